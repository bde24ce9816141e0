/** Vaults, folders and the trash: each method is one endpoint of the contract, its answer unwrapped. */
import type { Connection, CallOptions, ConditionOptions, UpdateOptions, VaultDeletion } from "../connection/options.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { AccessCheck } from "../shared-vaults/keys/check-access.ts";
import type { CreatedVault, NewSharedVault } from "../shared-vaults/create-vault.ts";
import type { ExportOptions, ExportResult } from "../shared-vaults/export/export.ts";
import type { ExportStore } from "../shared-vaults/export/export-layout.ts";
import type { ForgetSeenOptions } from "../shared-vaults/trust/forget-seen.ts";
import type { Until } from "../shared-vaults/members/membership-end.ts";
import type {
  AddedMember,
  AddMemberOptions,
  AgentOfInvite,
  EndedMember,
  RemovedMember,
} from "../shared-vaults/members/members.ts";
import type { VaultReaders } from "../shared-vaults/members/readers.ts";
import type { AcceptOptions, ActResult, ClosingActResult } from "../shared-vaults/members/owner-acts.ts";
import type { ResealResult } from "../shared-vaults/keys/reseal.ts";
import type { Rewind, RewindInput, RewindOptions } from "../rewind/report.ts";
import type { RevokedAgent, RevokeOptions } from "../shared-vaults/members/revoke-agent.ts";
import type { RotationOptions, RotationResult } from "../shared-vaults/rotation/rotate.ts";
import type { ToldOfVault } from "../shared-vaults/trust/trust-acts.ts";
import { deletionCalls } from "./deletion-calls.ts";
import { folderCalls, trashCalls } from "./folder-calls.ts";
import { plainVaultCalls } from "./plain-vault-calls.ts";
import { rewind } from "../rewind/rewind.ts";
import { sharedCode } from "../connection/shared-code.ts";
import type {
  FolderCreateInput,
  FolderEntriesQuery,
  FolderListQuery,
  FolderRestoreInput,
  FolderUpdateInput,
  TrashEmptyQuery,
  TrashListQuery,
  VaultFields,
  VaultListQuery,
  VaultRestoreInput,
  VaultUpdateInput,
} from "../connection/input-types.ts";
import type { EmptiedTrash, File, Folder, FolderEntry, Vault, VaultMember } from "../connection/result-types.ts";

/** The fields of a new vault. The last two are for shared vaults. */
export interface VaultCreateInput extends VaultFields, Omit<NewSharedVault, "name"> {}

export interface VaultResource {
  /**
   * Makes a vault. A shared one is an object on the chain first, owned by the signer's address. Then it becomes a
   * vault of the account that this address is linked to. With a `journal` the next call repairs a crash between the
   * two. `plainNames`: names of files and folders are never encrypted, for ever.
   * @throws VaultError for refusals of the chain.
   *
   * @example
   * ```ts
   * const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer, network }) });
   * const vault = await client.vaults.create({ name: "research", type: "shared" });
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

export interface MemberResource {
  /** Lists members as the service and the chain see them, the owner first. */
  list(vaultId: string, options?: CallOptions): Promise<VaultMember[]>;
  /**
   * Adds an address, on the chain and then at the service: everything ever written in the vault opens to it. Safe to
   * repeat. `who` is the address that the agent gave you on a channel other than the service. Or it is `{ invite }`
   * with the text of the invite that the agent redeemed. The invite's secret then proves address and signing key, so
   * the service cannot put in its own. With `until`, or an invite with `accessUntil`, the access ends by itself at
   * that time.
   * @throws VaultError `address_invalid`, `end_invalid` or `invite_unproven` before anything is signed, `not_owner`,
   * `no_gas`, …
   */
  add(vaultId: string, who: string | AgentOfInvite, options?: AddMemberOptions): Promise<AddedMember>;
  /**
   * Sets when a member's access ends by itself: a whole quarter of an hour, as a date or in RFC 3339; null: never. If
   * the access has ended already, add the member again. Safe to repeat.
   * @throws VaultError `end_invalid` before anything is signed, with the two nearest ends; `membership_ended`,
   * `not_a_member`, `not_owner`, …
   */
  setUntil(vaultId: string, chainAddress: string, until: Until, options?: CallOptions): Promise<EndedMember>;
  /**
   * Removes an address, on the chain and then at the service: it cannot open what is written afterwards. It can still
   * open what it could read before, wherever it gets the bytes, until the vault has been rotated. Safe to repeat.
   */
  remove(vaultId: string, chainAddress: string, options?: CallOptions): Promise<RemovedMember>;
}

export interface AgentResource {
  /**
   * Removes an agent: revokes its key, then takes its address off every shared vault of the account. Repeat it after a
   * failure: it skips finished steps. The report shows the result of each layer. `chainAddress` and `vaultIds` of the
   * options are the owner's own facts about the agent. The call compares the service's answers with them.
   */
  revoke(keyId: string, options?: RevokeOptions): Promise<RevokedAgent>;
  /**
   * Undoes what one actor did in public vaults since a time. What it made goes to the trash, and former content returns
   * as a new version. Names, places and the trash go back. What somebody else changed afterwards is left alone: `left`
   * says why. Acts on vaults and keys are only listed. Repeat it after a failure: it goes on where it stopped. An agent
   * rewinds itself alone.
   *
   * @example
   * ```ts
   * const { counts, left } = await client.agents.rewind({ keyId, since: "2026-11-20T17:00:00.000Z", dryRun: true });
   * if (left.length === 0) await client.agents.rewind({ keyId, since: "2026-11-20T17:00:00.000Z" });
   * console.log(counts);
   * ```
   */
  rewind(input: RewindInput, options?: RewindOptions): Promise<Rewind>;
}

export function agentResource(connection: Connection): AgentResource {
  return {
    revoke: async (...given) => (await sharedCalls(connection)).revoke(...given),
    rewind: (input, options) => rewind(connection, input, options),
  };
}

/** The code for shared vaults is loaded with the first of these calls. */
async function sharedCalls(connection: Connection) {
  return (await sharedCode(connection)).vaultCalls(connection);
}

export function vaultResource(connection: Connection): VaultResource {
  const shared = () => sharedCalls(connection);
  const calls = plainVaultCalls(connection);
  return {
    ...calls,
    ...deletionCalls(connection),
    members: {
      list: async (...given) => (await shared()).list(...given),
      add: async (...given) => (await shared()).add(...given),
      setUntil: async (...given) => (await shared()).setUntil(...given),
      remove: async (...given) => (await shared()).remove(...given),
    },
    checkAccess: async (...given) => (await shared()).checkAccess(...given),
    leave: async (...given) => (await shared()).leave(...given),
    setSigningKey: async (...given) => (await shared()).setSigningKey(...given),
    offerOwnership: async (...given) => (await shared()).offerOwnership(...given),
    acceptOwnership: async (...given) => (await shared()).acceptOwnership(...given),
    trust: async (...given) => (await shared()).trust(...given),
    trustOwner: async (...given) => (await shared()).trustOwner(...given),
    rotate: async (...given) => (await shared()).rotate(...given),
    reseal: async (...given) => (await shared()).reseal(...given),
    forgetSeen: async (...given) => (await shared()).forgetSeen(...given),
    export: async (...given) => (await shared()).export(...given),
    create: async ({ plainNames, journal, ...body }, options) =>
      body.type === "shared" && body.chainObjectId === undefined
        ? (await shared()).createShared({ name: body.name, plainNames, journal }, options)
        : { ...(await calls.create(body, options)), warnings: [] },
    list: (query = {}, options) => paged("vaults", query, (page) => calls.list(page, options)),
    readers: async (vaultId, options) => {
      const isPlain = connection.sharedVaults === null && (await calls.get(vaultId, options)).type === "public";
      if (isPlain) return { chainAddresses: [], service: true, generation: null, former: [] };
      return await (await shared()).readers(vaultId, options);
    },
  };
}

export interface FolderResource {
  /** Makes a folder at the top of a vault or in another folder. */
  create(input: FolderCreateInput, options?: CallOptions): Promise<Folder>;
  /** Lists folders, newest first. `parentId: "root"` lists those at the top. */
  list(query?: FolderListQuery, options?: CallOptions): PagePromise<"folders", Folder>;
  /** Reads one folder. */
  get(folderId: string, options?: CallOptions): Promise<Folder>;
  /** Renames a folder, or moves it in its vault. `parentId: null` moves it to the top. */
  update(folderId: string, changes: FolderUpdateInput, options?: UpdateOptions): Promise<Folder>;
  /** Moves the folder and all below it to the trash. */
  delete(folderId: string, options?: ConditionOptions): Promise<Folder>;
  /** Brings a folder back from the trash, with everything that went there with it. */
  restore(folderId: string, changes?: FolderRestoreInput, options?: UpdateOptions): Promise<Folder>;
  /** Names and places that the folder had, as `files.entries` has them of a file. */
  entries(folderId: string, query?: FolderEntriesQuery, options?: CallOptions): PagePromise<"entries", FolderEntry>;
}

export function folderResource(connection: Connection): FolderResource {
  const calls = folderCalls(connection);
  return {
    ...calls,
    list: (query = {}, options) => paged("folders", query, (page) => calls.list(page, options)),
    entries: (folderId, query = {}, options) =>
      paged("entries", query, (page) => calls.entries(folderId, page, options)),
  };
}

/** Which vaults of the trash to list. */
export interface TrashedVaultsQuery extends Omit<TrashListQuery, "vaultId"> {}

export interface TrashResource {
  /** Lists files in the trash, except those of vaults in the trash. */
  list(query?: TrashListQuery, options?: CallOptions): PagePromise<"files", File>;
  /** Lists the vaults in the trash, with everything in them. */
  vaults(query?: TrashedVaultsQuery, options?: CallOptions): PagePromise<"vaults", Vault>;
  /**
   * Deletes the files and folders in the trash for good: of one vault, or of all public ones. Their bytes leave the
   * server's disk 24 hours later. `leftVaults` then lists
   * shared vaults with something in their trash. Empty each by its id, with the chain key of its owner.
   */
  empty(query?: TrashEmptyQuery, options?: CallOptions): Promise<EmptiedTrash>;
}

export function trashResource(connection: Connection): TrashResource {
  const calls = trashCalls(connection);
  return {
    list: (query = {}, options) => paged("files", query, (page) => calls.list(page, options)),
    vaults: (query = {}, options) => paged("vaults", query, (page) => calls.vaults(page, options)),
    empty: calls.empty,
  };
}
