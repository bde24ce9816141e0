/**
 * What shared vaults add to the interface: members, owners, vault keys, and the keys of folders' name indexes
 * (decisions §5). The service stores and serves what clients sign and encrypt. It changes no allowlist and decrypts
 * nothing.
 */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { membershipEnd } from "./membership-ends.ts";
import { LADDER_STEP } from "./shared-statements.ts";
import { sharedEntry } from "./shared-entries.ts";
import {
  base64Bytes,
  chainAddress,
  itemName,
  label,
  openEnum,
  nextPage,
  pageQuery,
  sha256Hex,
  timestamp,
  uuid,
} from "./values.ts";
import { vault } from "./vaults.ts";

export { END_STEP, endProblem, membershipEnd } from "./membership-ends.ts";

/** The most members of a vault's allowlist, not counting its owner. */
export const MAX_MEMBERS = 1000;

const layersSchema = object({
  /** Whether the service serves the vault to the address: `active`, `ended` or `none`. */
  service: openEnum(["active", "ended", "none"]),
  /** Whether the allowlist names the address: `active`, `ended` or `none`. `unknown`: the chain did not answer. */
  chain: openEnum(["active", "ended", "none", "unknown"]),
});

/** What the service and the chain know about a member. */
export interface VaultMemberLayers extends Parsed<typeof layersSchema> {}

const layers: Named<VaultMemberLayers> = layersSchema;

/** A member in the two layers: the service's record, and the allowlist on the chain, which alone decides who can decrypt. */
const vaultMemberSchema = object({
  /** The member's Sui address: `0x` and 64 lower-case hex digits. */
  chainAddress,
  /** `owner` or `member` of the vault. */
  role: openEnum(["owner", "member"]),
  /** Note of the owner about the member. "": none. */
  label: z.string(),
  /** What the service and the chain each know about the member. */
  layers: layers,
  /** Generation in which the member joined. null: the chain does not name it. */
  since: z.nullable(z.int()),
  /** When access ends or ended by itself: RFC 3339 in UTC. null: no end was set. */
  endsAt: z.nullable(timestamp),
  /** When the service recorded the member: RFC 3339 in UTC. null: it did not. */
  addedAt: z.nullable(timestamp),
});

/** A member of a shared vault, as the service and the chain see it. */
export interface VaultMember extends Parsed<typeof vaultMemberSchema> {}

export const vaultMember: Named<VaultMember> = vaultMemberSchema;

/** A vault key's record, sealed and signed by a member (file-format §7). */
const vaultKeyRecordSchema = object({
  /** SHA-256 of the vault key's record: 64 lower-case hex digits. */
  keyId: sha256Hex,
  /** Generation of the vault that the key belongs to. */
  generation: z.int(),
  /** Latest end of a membership before this key, in milliseconds since 1970. It orders keys of one generation. */
  after: z.int(),
  /** The sealed and signed record, in base64. Only members can open it. */
  record: base64Bytes(4096),
  /** Whether new files use this key. false: only older files do. */
  current: z.boolean(),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** A vault key's record, sealed and signed by a member (file-format §7). */
export interface VaultKeyRecord extends Parsed<typeof vaultKeyRecordSchema> {}

export const vaultKeyRecord: Named<VaultKeyRecord> = vaultKeyRecordSchema;

/** How many steps of the ladder a new record may bring. */
export const MAX_STEPS = 16;

/** How many entries one call may stage. */
export const MAX_STAGED = 200;

const vaultParams = object({
  /** UUID of the vault. */
  vaultId: uuid,
});
const memberParams = object({
  /** UUID of the vault. */
  vaultId: uuid,
  /** Sui address: `0x` and 64 lower-case hex digits. */
  chainAddress,
});
const manage = { auth: "credential", access: "owner", scope: "members:write", vaultLimit: "object" } as const;
const use = { auth: "credential", access: "agent", vaultLimit: "object" } as const;
const chainErrors = ["not_found", "public_vault", "chain_unavailable"] as const;

export const membersGroup = {
  /** The vault's members, as the service and the allowlist on the chain see them. */
  list: endpoint({
    ...use,
    id: "members.list",
    method: "GET",
    path: "/api/vaults/{vaultId}/members",
    scope: "members:read",
    effect: "read",
    params: vaultParams,
    status: 200,
    /** At most {@link MAX_MEMBERS} members and the owner, so there are no pages. */
    output: object({
      /** The owner and the members; never in pages. */
      members: z.array(vaultMember),
    }),
    errors: ["not_found", "public_vault", "membership_ended"],
  }),
  /** Record a member that the allowlist on the chain names already; a second call changes nothing. */
  add: endpoint({
    ...manage,
    id: "members.add",
    method: "POST",
    path: "/api/vaults/{vaultId}/members",
    effect: "create",
    params: vaultParams,
    /**
     * `until`: the end that the caller's client has just set on the chain, null for none. The service waits for a node
     * that shows it.
     */
    body: strictObject({
      /** Sui address: `0x` and 64 lower-case hex digits. */
      chainAddress,
      /** Note about the member for the owner: 1 to 200 characters. Default: none. */
      label: z.optional(label),
      /** When access ends: RFC 3339 in UTC, a whole quarter of an hour. null: no end. Must be the end on the chain. Default: the end on the chain, unchecked. */
      until: z.optional(z.nullable(membershipEnd)),
    }),
    status: 201,
    output: object({
      /** The member as it is now. */
      member: vaultMember,
    }),
    errors: [...chainErrors, "not_on_allowlist", "limit_reached"],
  }),
  /** End the record of a member that the allowlist on the chain no longer names. */
  remove: endpoint({
    ...manage,
    id: "members.remove",
    method: "DELETE",
    path: "/api/vaults/{vaultId}/members/{chainAddress}",
    effect: "delete",
    params: memberParams,
    status: 204,
    errors: [...chainErrors, "still_on_allowlist"],
  }),
} as const;

export const ownershipGroup = {
  /** Take a vault into the account whose chain address owns it on the chain now; a second call changes nothing. */
  claim: endpoint({
    id: "ownership.claim",
    method: "POST",
    path: "/api/vaults/{vaultId}/claim",
    auth: "credential",
    access: "owner",
    scope: "vaults:write",
    vaultLimit: "refuse",
    effect: "update",
    params: vaultParams,
    /** `name`: the vault's name in this account, if its own name is taken. */
    body: strictObject({
      /** Name of the vault in your account. Default: its own name. */
      name: z.optional(itemName),
    }),
    status: 200,
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: [
      ...chainErrors,
      ...([
        "address_required",
        "chain_object_invalid",
        "name_exists",
        "limit_reached",
        "storage_quota",
        "tree_busy",
      ] as const),
    ],
  }),
} as const;

export const vaultKeysGroup = {
  /** The vault's key records, newest first; only members can open them. */
  list: endpoint({
    ...use,
    id: "vaultKeys.list",
    method: "GET",
    path: "/api/vaults/{vaultId}/keys",
    scope: null,
    effect: "read",
    params: vaultParams,
    query: strictObject({
      ...pageQuery,
      /** Lists only keys of this generation. Default: every generation. */
      generation: z.optional(z.string().check(z.regex(/^\d{1,15}$/, "expected a whole number"))),
    }),
    status: 200,
    output: object({
      /** Records of vault keys. */
      keys: z.array(vaultKeyRecord),
      ...nextPage,
    }),
    errors: [...chainErrors, "not_a_member", "membership_ended"],
  }),
  /** Publish the vault key record of the current generation, with steps down to earlier keys, if there is none or the named one is current. */
  publish: endpoint({
    ...use,
    id: "vaultKeys.publish",
    method: "POST",
    path: "/api/vaults/{vaultId}/keys",
    scope: "files:write",
    effect: "create",
    params: vaultParams,
    body: strictObject({
      /** The sealed and signed record of the key, in base64. */
      record: base64Bytes(4096),
      /** SHA-256 of the record that this one replaces: 64 hex digits. Default: there is none yet. */
      replaces: z.optional(sha256Hex),
      /** At most 16 steps down from the record's key, stored with it or not at all. Default: none. */
      steps: z.optional(
        z
          .array(
            strictObject({
              /** The sealed step, in base64. */
              step: base64Bytes(LADDER_STEP.bytes),
              /** SHA-256 of the record of the key inside the step: 64 hex digits. */
              to: sha256Hex,
            }),
          )
          .check(z.maxLength(MAX_STEPS)),
      ),
    }),
    status: 201,
    output: object({
      /** The vault key's record, as stored. */
      key: vaultKeyRecord,
    }),
    /** `key_exists` comes with the existing record in the header `Coffer-Key-Id`. */
    errors: [
      ...chainErrors,
      "not_a_member",
      "membership_ended",
      "statement_invalid",
      "generation_moved",
      "key_exists",
      "limit_reached",
    ],
  }),
  /** Steps from vault keys down to earlier ones, those of the newest records first. */
  steps: endpoint({
    ...use,
    id: "vaultKeys.steps",
    method: "GET",
    path: "/api/vaults/{vaultId}/keys/steps",
    scope: null,
    effect: "read",
    params: vaultParams,
    query: strictObject(pageQuery),
    status: 200,
    /** Those of the newest records first: the bytes in base64. */
    output: object({
      /** Steps from newer keys down to older ones, those of the newest records first. Each is base64. */
      steps: z.array(base64Bytes(LADDER_STEP.bytes)),
      ...nextPage,
    }),
    errors: [...chainErrors, "not_a_member", "membership_ended"],
  }),
} as const;

const folderKey = object({
  /** UUID of the folder. null: the top of the vault. */
  folderId: z.nullable(uuid),
  /** SHA-256 of the vault key's record: 64 lower-case hex digits. */
  keyId: z.nullable(sha256Hex),
});

export const folderNamesGroup = {
  /** The vault key that a folder's name indexes are made with. */
  get: endpoint({
    ...use,
    id: "folderNames.get",
    method: "GET",
    path: "/api/vaults/{vaultId}/names",
    scope: "files:read",
    effect: "read",
    params: vaultParams,
    query: strictObject({
      /** UUID of the folder. Default: the top of the vault. */
      folderId: z.optional(uuid),
    }),
    status: 200,
    output: folderKey,
    errors: [...chainErrors, "not_a_member", "membership_ended", "tree_busy"],
  }),
  /** Bring a folder's entries under another key; the folder changes once all of them are there. */
  stage: endpoint({
    ...use,
    id: "folderNames.stage",
    method: "PUT",
    path: "/api/vaults/{vaultId}/names",
    scope: "files:write",
    effect: "update",
    params: vaultParams,
    body: strictObject({
      /** UUID of the folder. null: the top of the vault. */
      folderId: z.nullable(uuid),
      /** SHA-256 of the record of the key to change to: 64 hex digits. */
      keyId: sha256Hex,
      /** Names under the new key, at most 200. */
      entries: z.array(sharedEntry).check(z.maxLength(MAX_STAGED)),
    }),
    status: 200,
    output: object({
      /** UUID of the folder. null: the top of the vault. */
      folderId: z.nullable(uuid),
      /** SHA-256 of the vault key's record: 64 lower-case hex digits. */
      keyId: z.nullable(sha256Hex),
      /** Number of live entries that still need a name under the new key. */
      remaining: z.int(),
    }),
    errors: [
      ...chainErrors,
      "not_a_member",
      "membership_ended",
      "statement_invalid",
      "generation_moved",
      "name_exists",
    ],
  }),
} as const;
