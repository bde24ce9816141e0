/** Vaults, folders and the trash: each method is one endpoint of the contract, its answer unwrapped. */
import type { File, Folder, Vault, VaultMember } from "@coffer/contract";
import type { Connection, CallOptions, PlaceOptions, UpdateOptions, VaultDeletion } from "../options.ts";
import { PagePromise } from "../pages.ts";
import type { AccessCheck } from "../vaults/keys/check-access.ts";
import type { NewSharedVault } from "../vaults/create.ts";
import type { ExportOptions, ExportResult } from "../vaults/export/export.ts";
import type { ExportStore } from "../vaults/export/export-layout.ts";
import type { ForgetSeenOptions } from "../vaults/memory/forget-seen.ts";
import type { Until } from "../vaults/members/ends.ts";
import type {
  AddedMember,
  AddMemberOptions,
  AgentOfInvite,
  EndedMember,
  RemovedMember,
} from "../vaults/members/members.ts";
import type { AcceptOptions, ActResult, ClosingActResult } from "../vaults/members/owner-acts.ts";
import type { ResealResult } from "../vaults/keys/reseal.ts";
import type { RevokedAgent, RevokeOptions } from "../vaults/members/revoke-agent.ts";
import type { RotationOptions, RotationResult } from "../vaults/rotation/rotate.ts";
import type { ToldOfVault } from "../vaults/memory/trusting.ts";
import { onDemand, withCursor } from "./calling.ts";
import type {
  FolderCreateInput,
  FolderListQuery,
  FolderRestoreInput,
  FolderUpdateInput,
  TrashEmptyQuery,
  TrashListQuery,
  VaultFields,
  VaultListQuery,
  VaultUpdateInput,
} from "./input-types.ts";

/** What a new vault is made of. The two last fields are for shared vaults. */
export interface VaultCreateInput extends VaultFields, Omit<NewSharedVault, "name"> {}

export interface VaultResource {
  /**
   * Makes a vault. A shared one is an object on the chain first, owned by the signer's address, and then a vault of the account that this
   * address is linked to; with a `journal` a crash between the two is made good by the next call. `plainNames`: names of files and folders
   * in the clear, for ever.
   * @throws VaultError for what the chain refuses.
   *
   * @example
   * ```ts
   * const client = createClient({ baseUrl, credentials: { apiKey }, sharedVaults: sharedVaults({ signer, network }) });
   * const vault = await client.vaults.create({ name: "research", type: "shared" });
   * await client.vaults.members.add(vault.id, agentAddress);
   * ```
   */
  create(input: VaultCreateInput, options?: CallOptions): Promise<Vault>;
  /** Newest first. */
  list(query?: VaultListQuery, options?: CallOptions): PagePromise<"vaults", Vault>;
  /** One vault. */
  get(vaultId: string, options?: CallOptions): Promise<Vault>;
  /** Renames a vault. */
  update(vaultId: string, changes: VaultUpdateInput, options?: CallOptions): Promise<Vault>;
  /**
   * Moves a vault to the trash with all that lies in it, for 30 days. Fails with `vault_not_empty` unless `force`. `permanent` deletes it for
   * good, from the trash or at once, and answers null. What is deleted of a shared vault needs the chain key of its owner: the client signs
   * the service's challenge by itself.
   * @throws ApiError `owner_proof_required` for a client without that key, `signature_invalid` for one with another.
   */
  delete(vaultId: string, options?: VaultDeletion): Promise<Vault | null>;
  /** Brings a vault back from the trash, perhaps under another name. */
  restore(vaultId: string, changes?: { readonly name?: string }, options?: CallOptions): Promise<Vault>;
  /** Who may read and write a shared vault. */
  readonly members: MemberResource;
  /** Why a shared vault does not open, layer by layer, each with its next step. Decide nothing from it: it is for people. */
  checkAccess(vaultId: string, options?: CallOptions): Promise<AccessCheck>;
  /**
   * Takes the signer off the vault's allowlist; `effect` says in words what that closes and what it does not. Files that it has uploaded stay.
   * @throws VaultError `is_owner`: the owner hands the vault on first; `no_gas`, …
   */
  leave(vaultId: string, options?: CallOptions): Promise<ClosingActResult>;
  /** Names the key that signs this member's statements; the signer's own unless one is given. A member without one only reads. */
  setSigningKey(vaultId: string, signingKey?: Uint8Array, options?: CallOptions): Promise<ActResult>;
  /** Offers a shared vault to the address of one of its members; null withdraws the offer. */
  offerOwnership(vaultId: string, chainAddress: string | null, options?: CallOptions): Promise<ActResult>;
  /**
   * Takes over a vault that was offered to the signer, on the chain and then at the service, where it counts for this account from then on.
   * The owner before is removed. Safe to repeat.
   * @throws VaultError `not_offered`, …; ApiError `name_exists` (give `name`), `storage_quota`, `limit_reached`: the vault is the signer's on
   * the chain then, and the same call finishes once there is room.
   */
  acceptOwnership(vaultId: string, options?: AcceptOptions): Promise<ClosingActResult>;
  /**
   * Holds a shared vault to what its owner said of it over another way than the service: which object on the chain it is, and whose. For the
   * first meeting with a vault, or in the place of what was pinned at one. Invites with `vaultIds` do it by themselves.
   * @throws VaultError `vault_changed` unless the chain names that owner; `address_invalid`, `vault_not_found`.
   */
  trust(vaultId: string, told: ToldOfVault, options?: CallOptions): Promise<void>;
  /**
   * Takes a vault's new owner for the true one, after `vault_changed` named another than the one this client met. Only for an address that
   * the new owner told over another way than the service.
   */
  trustOwner(vaultId: string, chainAddress: string, options?: CallOptions): Promise<void>;
  /**
   * Encrypts everything of a shared vault again, names and trash included, under keys that those who were removed never had. Readers go on
   * meanwhile; a call that was cut off is taken up by the next one. What cannot be read is in `failed`; without such the owner's call ends
   * by raising the vault's floor. It does not take back what was copied before.
   */
  rotate(vaultId: string, options?: RotationOptions): Promise<RotationResult>;
  /**
   * Seals the keys of a shared vault again for the key servers that the network configuration names first, so that others can be given up:
   * files and names stay as they are. What was sealed before stays open to the key servers of before. Safe to repeat.
   */
  reseal(vaultId: string, options?: CallOptions): Promise<ResealResult>;
  /**
   * Forgets which statements this client has seen of a shared vault, or of one file or folder (`id`): what the service shows counts as the
   * newest again. For when the service was restored from a backup and its operator says so; without that, `rolled_back` is an alarm.
   * Without `id` it forgets the generation and floor that a chain node has shown, too: for when that was not true. Of a public vault it
   * forgets which files and folders this machine's callers have named in it.
   * Everyone who has seen the newer state has to do it.
   */
  forgetSeen(vaultId: string, options?: ForgetSeenOptions): Promise<void>;
  /**
   * Copies everything of a shared vault out of the service, encrypted as it is, so that it opens with the chain and the key servers alone.
   * Into a directory: `exportVault` of `@coffer/sdk/node`.
   */
  export(vaultId: string, store: ExportStore, options?: ExportOptions): Promise<ExportResult>;
}

export interface MemberResource {
  /** As the service and the chain see them, the owner first. */
  list(vaultId: string, options?: CallOptions): Promise<VaultMember[]>;
  /**
   * Adds an address, on the chain and then at the service: all that was ever written in the vault opens to it. Safe to repeat. `who`: the
   * address as the agent told it over another way than the service, or `{ invite }` with the text of the invite that it redeemed: then address
   * and signing key are what the invite's secret proves, so that the service cannot put in one of its own.
   * With `until`, or an invite with `accessUntil`, the access ends by itself at that time.
   * @throws VaultError `address_invalid`, `end_invalid` or `invite_unproven` before anything is signed, `not_owner`, `no_gas`, …
   */
  add(vaultId: string, who: string | AgentOfInvite, options?: AddMemberOptions): Promise<AddedMember>;
  /**
   * Sets when a member's access ends by itself: a whole quarter of an hour, as a date or in RFC 3339; null: never. Whose access has ended is
   * added again instead. Safe to repeat.
   * @throws VaultError `end_invalid` before anything is signed, with the two nearest ends; `membership_ended`, `not_a_member`, `not_owner`, …
   */
  setUntil(vaultId: string, chainAddress: string, until: Until, options?: CallOptions): Promise<EndedMember>;
  /**
   * Removes an address, on the chain and then at the service: what is written afterwards is closed to it. What it could read it can read
   * wherever it gets the bytes, until the vault has been rotated. Safe to repeat.
   */
  remove(vaultId: string, chainAddress: string, options?: CallOptions): Promise<RemovedMember>;
}

export interface AgentResource {
  /**
   * Ends an agent: revokes its key, then takes its address off every shared vault of the account. Repeat it after a failure: what is done is
   * not done again. The report says what became of each layer. `chainAddress` and `vaultIds` of the options hold the service to what the
   * owner knows of the agent.
   */
  revoke(keyId: string, options?: RevokeOptions): Promise<RevokedAgent>;
}

export function agentResource(connection: Connection): AgentResource {
  return onDemand(sharedCalls(connection), "revoke");
}

/** What is about shared vaults alone is loaded when it is first used. */
function sharedCalls(connection: Connection) {
  return async () => {
    const { sharedCode } = await import("../shared-code.ts");
    return (await sharedCode(connection).calls()).vaultCalls(connection);
  };
}

export function vaultResource(connection: Connection): VaultResource {
  const shared = sharedCalls(connection);
  const calls = async () => (await import("./plain-vault-calls.ts")).plainVaultCalls(connection);
  return {
    members: onDemand(shared, "list", "add", "setUntil", "remove"),
    ...onDemand(
      shared,
      "checkAccess",
      "leave",
      "setSigningKey",
      "offerOwnership",
      "acceptOwnership",
      "trust",
      "trustOwner",
      "rotate",
      "reseal",
      "forgetSeen",
      "export",
    ),
    create: async ({ plainNames, journal, ...body }, options) =>
      body.type === "shared" && body.chainObjectId === undefined
        ? (await shared()).createShared({ name: body.name, plainNames, journal }, options)
        : (await calls()).create(body, options),
    list: (query = {}, options) =>
      new PagePromise(
        "vaults",
        async (cursor) => (await calls()).list(withCursor(query, cursor), options),
        query.cursor,
      ),
    ...onDemand(calls, "get", "update"),
    ...onDemand(async () => (await import("./deletion-calls.ts")).deletionCalls(connection), "delete", "restore"),
  };
}

export interface FolderResource {
  /** Makes a folder at the top of a vault or in another folder. */
  create(input: FolderCreateInput, options?: CallOptions): Promise<Folder>;
  /** Newest first. `parentId: "root"` for those at the top. */
  list(query?: FolderListQuery, options?: CallOptions): PagePromise<"folders", Folder>;
  /** One folder. */
  get(folderId: string, options?: CallOptions): Promise<Folder>;
  /** Renames a folder, or moves it in its vault. `parentId: null` moves it to the top. */
  update(folderId: string, changes: FolderUpdateInput, options?: UpdateOptions): Promise<Folder>;
  /** Moves the folder and all below it to the trash. */
  delete(folderId: string, options?: CallOptions): Promise<Folder>;
  /** Brings a folder back from the trash, with all that went there with it. */
  restore(folderId: string, changes?: FolderRestoreInput, options?: PlaceOptions): Promise<Folder>;
}

export function folderResource(connection: Connection): FolderResource {
  const calls = async () => (await import("./folder-calls.ts")).folderCalls(connection);
  return {
    list: (query = {}, options) =>
      new PagePromise(
        "folders",
        async (cursor) => (await calls()).list(withCursor(query, cursor), options),
        query.cursor,
      ),
    ...onDemand(calls, "create", "get", "update", "delete", "restore"),
  };
}

export interface EmptiedTrash {
  readonly leftVaults: readonly { readonly id: string; readonly name: string }[];
}

export interface TrashResource {
  /** The files in the trash of live vaults. */
  list(query?: TrashListQuery, options?: CallOptions): PagePromise<"files", File>;
  /** The vaults in the trash, with all that lies in them. */
  vaults(query?: Omit<TrashListQuery, "vaultId">, options?: CallOptions): PagePromise<"vaults", Vault>;
  /**
   * Deletes the files and folders in the trash for good: of one vault, or of all public ones. Shared vaults with something in their trash are
   * in `leftVaults` then; each is emptied by its id, with the chain key of its owner.
   */
  empty(query?: TrashEmptyQuery, options?: CallOptions): Promise<EmptiedTrash>;
}

export function trashResource(connection: Connection): TrashResource {
  const calls = async () => (await import("./folder-calls.ts")).trashCalls(connection);
  return {
    list: (query = {}, options) =>
      new PagePromise(
        "files",
        async (cursor) => (await calls()).list(withCursor(query, cursor), options),
        query.cursor,
      ),
    vaults: (query = {}, options) =>
      new PagePromise(
        "vaults",
        async (cursor) => (await calls()).vaults(withCursor(query, cursor), options),
        query.cursor,
      ),
    ...onDemand(calls, "empty"),
  };
}
