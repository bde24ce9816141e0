/** Vaults. What any client may do with one is here; what needs the code of shared vaults is loaded with its first call. */
import { restoringGroup, vaultsGroup, type api, type Vault } from "@coffer/contract";
import type { CallOptions, Connection, VaultDeletion } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import type { Body, ListQuery } from "../http/endpoint-types.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import { resultOfRepeat } from "../http/repeated-change.ts";
import type { CreatedVault, NewSharedVault } from "../shared-vaults/create-vault.ts";
import type { ExportStore } from "../shared-vaults/export/export-layout.ts";
import type { ExportOptions, ExportResult } from "../shared-vaults/export/export.ts";
import type { AccessCheck } from "../shared-vaults/keys/check-access.ts";
import type { ResealResult } from "../shared-vaults/keys/reseal.ts";
import type { AcceptOptions, ActResult, ClosingActResult } from "../shared-vaults/members/owner-acts.ts";
import type { VaultReaders } from "../shared-vaults/members/readers.ts";
import type { RotationOptions, RotationResult } from "../shared-vaults/rotation/rotate.ts";
import type { ForgetSeenOptions } from "../shared-vaults/trust/forget-seen.ts";
import type { ToldOfVault } from "../shared-vaults/trust/trust-acts.ts";
import { memberResource, type MemberResource } from "./members.ts";
import { withOwnerProof } from "./owner-proof.ts";
import { pinCreated, requirePinned } from "./vault-pins.ts";

/** Input of `vaults.create`. */
export interface VaultFields extends Body<typeof api.vaults.create> {}

/** Input of `vaults.list`. */
export interface VaultListQuery extends ListQuery<typeof api.vaults.list> {}

/** Input of `vaults.update`. */
export interface VaultUpdateInput extends Body<typeof api.vaults.update> {}

/** Input of `vaults.restore`. */
export interface VaultRestoreInput extends Body<typeof api.vaults.restore> {}

/** The fields of a new vault. `plainNames` and `journal` are for shared vaults. */
export interface VaultCreateInput extends Omit<VaultFields, "type">, Omit<NewSharedVault, "name"> {
  /**
   * `shared`: encrypted here, for its members. `public`: public to the service, which can read it, and visible to this account only.
   * Default: `shared` for a client with `sharedVaults`, else `public`.
   */
  readonly type?: VaultFields["type"] | undefined;
}

export interface VaultResource {
  /**
   * Makes a vault. A shared one is an object on the chain first, owned by the signer's address. Then it becomes a
   * vault of the account that this address is linked to. With a `journal` the next call repairs a crash between the
   * two. `plainNames`: names of files and folders are never encrypted, for ever. Where a shared vault cannot be made, none is: no public
   * one takes its place.
   * @throws VaultError for refusals of the chain.
   *
   * @example
   * ```ts
   * const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer, network }) });
   * const vault = await client.vaults.create({ name: "research" });
   * await client.vaults.members.add(vault.id, agentAddress);
   * ```
   */
  create(input: VaultCreateInput, options?: CallOptions): Promise<CreatedVault>;
  /** Lists vaults, newest first. */
  list(query?: VaultListQuery, options?: CallOptions): PagePromise<"vaults", Vault>;
  /** Reads one vault. */
  get(vaultId: string, options?: CallOptions): Promise<Vault>;
  /** Renames a vault. */
  update(vaultId: string, changes: VaultUpdateInput, options?: CallOptions): Promise<Vault>;
  /**
   * Moves a vault to the trash with everything in it, for 30 days. Fails with `vault_not_empty` unless `force`.
   * `permanent` deletes it for good, from the trash or at once, and answers null; the bytes leave the server's disk 24
   * hours later. Deletions in a shared vault need the
   * chain key of its owner: the client signs the service's challenge by itself.
   * @throws ApiError `owner_proof_required` for a client without that key, `signature_invalid` for one with another.
   */
  delete(vaultId: string, options?: VaultDeletion): Promise<Vault | null>;
  /** Brings a vault back from the trash, perhaps under another name. */
  restore(vaultId: string, changes?: VaultRestoreInput, options?: CallOptions): Promise<Vault>;
  /** Members of a shared vault, who may read and write it. */
  readonly members: MemberResource;
  /** Explains why a shared vault does not open, layer by layer, each with its next step. For people only: base no decision on it. */
  checkAccess(vaultId: string, options?: CallOptions): Promise<AccessCheck>;
  /**
   * Lists the readers of what is written into a vault now. In a shared vault this client's pin and the chain decide, and
   * not the service's word, so it needs a client that opens shared vaults. The answer also has those whose access is over.
   */
  readers(vaultId: string, options?: CallOptions): Promise<VaultReaders>;
  /**
   * Takes the signer off the vault's allowlist; `effect` describes what that closes and what it does not. Files that
   * the signer has uploaded stay.
   * @throws VaultError `is_owner`: the owner hands the vault on first; `no_gas`, …
   */
  leave(vaultId: string, options?: CallOptions): Promise<ClosingActResult>;
  /** Names the key that signs this member's statements. Default: the signer's own. A member without one only reads. */
  setSigningKey(vaultId: string, signingKey?: Uint8Array, options?: CallOptions): Promise<ActResult>;
  /** Offers a shared vault to the address of one of its members; null withdraws the offer. */
  offerOwnership(vaultId: string, chainAddress: string | null, options?: CallOptions): Promise<ActResult>;
  /**
   * Takes over a vault that was offered to the signer, on the chain and then at the service. From then on it counts
   * for this account. This removes the owner before. Safe to repeat.
   * @throws VaultError `not_offered`, …
   * @throws ApiError `name_exists` (give `name`), `storage_quota`, `limit_reached`. The vault is then the signer's on
   * the chain, and the same call finishes once there is room.
   */
  acceptOwnership(vaultId: string, options?: AcceptOptions): Promise<ClosingActResult>;
  /**
   * Pins a shared vault to the object and the owner that its owner named on a channel other than the service. Use it
   * before the first meeting with a vault, or to replace the pin of one. Invites with `vaultIds` do it by themselves.
   * @throws VaultError `vault_changed` unless the chain names that owner; `address_invalid`, `vault_not_found`.
   */
  trust(vaultId: string, told: ToldOfVault, options?: CallOptions): Promise<void>;
  /**
   * Accepts a vault's new owner, after `vault_changed` named another than the one this client met. Use only an address
   * that the new owner sent on a channel other than the service.
   */
  trustOwner(vaultId: string, chainAddress: string, options?: CallOptions): Promise<void>;
  /**
   * Encrypts everything of a shared vault again, names and trash included, under keys that removed members never had.
   * Readers go on meanwhile; the next call goes on where one was cut off. `failed` lists what it could not read. If
   * that is empty, the owner's call ends by raising the vault's floor. It takes back no copies made before.
   */
  rotate(vaultId: string, options?: RotationOptions): Promise<RotationResult>;
  /**
   * Seals the keys of a shared vault again for the key servers that the network configuration names first. So you can
   * give up the others: files and names stay as they are. Keys sealed before stay open to the old key servers. Safe to
   * repeat.
   */
  reseal(vaultId: string, options?: CallOptions): Promise<ResealResult>;
  /**
   * Forgets which statements this client has seen of a shared vault, or of one file or folder (`id`). The service's
   * next answer then counts as the newest again. Use it when the operator says that the service was restored from a
   * backup; otherwise `rolled_back` is an alarm. Without `id` it also forgets the generation and floor that a chain
   * node has shown, for the case that they were false. For a public vault it forgets which files and folders this
   * machine's callers have named in it. Everyone who has seen the newer state has to call it.
   */
  forgetSeen(vaultId: string, options?: ForgetSeenOptions): Promise<void>;
  /**
   * Copies everything of a shared vault out of the service, encrypted as it is. The copy opens with the chain and the
   * key servers alone. To write into a directory use `exportVault` of `@coffer/sdk/node`.
   */
  export(vaultId: string, store: ExportStore, options?: ExportOptions): Promise<ExportResult>;
}

export function vaultResource(connection: Connection): VaultResource {
  const { create, list, get, update } = vaultsGroup;
  const shared = async () => (await sharedCode(connection)).vaultCalls(connection);
  const pinned = async (vault: Vault): Promise<Vault> => {
    await requirePinned(connection, [vault]);
    return vault;
  };
  const readVault = async (vaultId: string, options?: CallOptions): Promise<Vault> =>
    pinned((await callOn(connection, get, { params: { vaultId } }, options)).vault);
  return {
    create: async ({ plainNames, journal, ...input }, options) => {
      const body = { ...input, type: input.type ?? (connection.sharedVaults === null ? "public" : "shared") };
      if (body.type === "shared" && body.chainObjectId === undefined)
        return (await shared()).createShared({ name: body.name, plainNames, journal }, options);
      const vault = await pinned((await callOn(connection, create, { body }, options)).vault);
      if (vault.type === "public") await pinCreated(connection, vault, options?.idempotencyKey !== undefined);
      return { ...vault, warnings: [] };
    },
    list: (query = {}, options) =>
      paged("vaults", query, async (page) => {
        const result = await callOn(connection, list, { query: page }, options);
        await requirePinned(connection, result.vaults);
        return result;
      }),
    get: readVault,
    update: async (vaultId, body, options) => {
      const { vault } = await withOwnerProof(
        connection,
        { act: "shorten-retention", vaultId },
        (headers) => callOn(connection, update, { params: { vaultId }, headers, body }, options),
        options,
      );
      return pinned(vault);
    },
    delete: async (vaultId, { force, permanent, ...options } = {}) => {
      const query = {
        ...(force === undefined ? {} : { force }),
        ...(permanent === undefined ? {} : { permanent }),
      };
      const act = permanent === true ? "purge-vault" : "delete-vault";
      const deleted = await withOwnerProof(
        connection,
        { act, vaultId },
        (headers) => callOn(connection, vaultsGroup.delete, { params: { vaultId }, query, headers }, options),
        options,
      );
      return deleted === undefined ? null : pinned(deleted.vault);
    },
    restore: async (vaultId, body = {}, options) => {
      const params = { vaultId };
      const restored = callOn(connection, restoringGroup.restore, { params, body }, options);
      const { vault } = await resultOfRepeat(restored, "not_trashed", async () => {
        const present = await callOn(connection, get, { params }, options);
        return body.name === undefined || body.name.normalize("NFC") === present.vault.name ? present : null;
      });
      return pinned(vault);
    },
    members: memberResource(connection),
    readers: async (vaultId, options) => {
      const isPlain = connection.sharedVaults === null && (await readVault(vaultId, options)).type === "public";
      if (isPlain) return { chainAddresses: [], service: true, generation: null, former: [] };
      return await (await shared()).readers(vaultId, options);
    },
    checkAccess: async (...args) => (await shared()).checkAccess(...args),
    leave: async (...args) => (await shared()).leave(...args),
    setSigningKey: async (...args) => (await shared()).setSigningKey(...args),
    offerOwnership: async (...args) => (await shared()).offerOwnership(...args),
    acceptOwnership: async (...args) => (await shared()).acceptOwnership(...args),
    trust: async (...args) => (await shared()).trust(...args),
    trustOwner: async (...args) => (await shared()).trustOwner(...args),
    rotate: async (...args) => (await shared()).rotate(...args),
    reseal: async (...args) => (await shared()).reseal(...args),
    forgetSeen: async (...args) => (await shared()).forgetSeen(...args),
    export: async (...args) => (await shared()).export(...args),
  };
}
