/**
 * What shared vaults add to the interface: members, owners, vault keys, and the keys of folders' name indexes
 * (decisions §5). The service stores and serves what clients sign and encrypt. It changes no allowlist and decrypts
 * nothing.
 */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { membershipEnd } from "./ends.ts";
import { LADDER_STEP } from "./shared-statements.ts";
import { sharedEntry } from "./shared-entries.ts";
import {
  base64Bytes,
  chainAddress,
  itemName,
  label,
  openEnum,
  pageOf,
  pageQuery,
  sha256Hex,
  timestamp,
  uuid,
} from "./values.ts";
import { vault } from "./vaults.ts";

export { END_STEP, endProblem, membershipEnd } from "./ends.ts";

/** The most members of a vault's allowlist, not counting its owner. */
export const MAX_MEMBERS = 1000;

/** A member in the two layers: the service's record, and the allowlist on the chain, which alone decides who can decrypt. */
export const vaultMember = z.object({
  chainAddress,
  role: openEnum(["owner", "member"]),
  /** Only the owner sees it; "" when none was given. */
  label: z.string(),
  layers: z.object({
    /** Whether the service serves the vault to this address; `ended`: until `endsAt`, and no longer. */
    service: openEnum(["active", "ended", "none"]),
    /** Whether the allowlist names the address; `unknown` while the chain does not answer. */
    chain: openEnum(["active", "ended", "none", "unknown"]),
  }),
  /** The generation in which the member joined; null where the chain does not name the address. */
  since: z.nullable(z.int()),
  /** When its access ends, or ended, by itself: by the chain, or as the service last saw it there. null: it has no end. */
  endsAt: z.nullable(timestamp),
  /** When the service recorded it; null when it has not. */
  addedAt: z.nullable(timestamp),
});

export interface VaultMember extends z.infer<typeof vaultMember> {}

/** A vault key's record, sealed and signed by a member (file-format §7). */
export const vaultKeyRecord = z.object({
  /** SHA-256 of the record. */
  keyId: sha256Hex,
  generation: z.int(),
  /**
   * Together with the generation, the place of the key: the latest end of a membership that had been reached, in
   * milliseconds since 1970.
   */
  after: z.int(),
  /** The bytes in base64. */
  record: base64Bytes(4096),
  /** New files use it. False: another key replaced it, and older files still name it. */
  current: z.boolean(),
  createdAt: timestamp,
});

export interface VaultKeyRecord extends z.infer<typeof vaultKeyRecord> {}

/** How many steps of the ladder a new record may bring. */
export const MAX_STEPS = 16;

/** How many entries one call may stage. */
export const MAX_STAGED = 200;

const vaultParams = z.object({ vaultId: uuid });
const memberParams = z.object({ vaultId: uuid, chainAddress });
const manage = { auth: "credential", access: "owner", scope: "members:write", vaultLimit: "object" } as const;
const use = { auth: "credential", access: "agent", vaultLimit: "object" } as const;
const chainErrors = ["not_found", "public_vault", "chain_unavailable"] as const;

export const membersGroup = {
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
    output: z.object({ members: z.array(vaultMember) }),
    errors: ["not_found", "public_vault", "membership_ended"],
  }),
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
    body: z.strictObject({ chainAddress, label: z.optional(label), until: z.optional(z.nullable(membershipEnd)) }),
    status: 201,
    output: z.object({ member: vaultMember }),
    errors: [...chainErrors, "not_on_allowlist", "limit_reached"],
  }),
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
    body: z.strictObject({ name: z.optional(itemName) }),
    status: 200,
    output: z.object({ vault }),
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
  list: endpoint({
    ...use,
    id: "vaultKeys.list",
    method: "GET",
    path: "/api/vaults/{vaultId}/keys",
    scope: null,
    effect: "read",
    params: vaultParams,
    query: z.strictObject({
      ...pageQuery,
      generation: z.optional(z.string().check(z.regex(/^\d{1,15}$/, "expected a whole number"))),
    }),
    status: 200,
    output: pageOf("keys", vaultKeyRecord),
    errors: [...chainErrors, "not_a_member", "membership_ended"],
  }),
  publish: endpoint({
    ...use,
    id: "vaultKeys.publish",
    method: "POST",
    path: "/api/vaults/{vaultId}/keys",
    scope: "files:write",
    effect: "create",
    params: vaultParams,
    body: z.strictObject({
      record: base64Bytes(4096),
      /** The current record of the generation, which this one replaces; absent: there is none yet. */
      replaces: z.optional(sha256Hex),
      /** From the record's own key down: stored together with the record, or not at all. A key that is sealed again brings none. */
      steps: z.optional(
        z
          .array(
            z.strictObject({
              step: base64Bytes(LADDER_STEP.bytes),
              /** A record of the key that the step holds. */
              to: sha256Hex,
            }),
          )
          .check(z.maxLength(MAX_STEPS)),
      ),
    }),
    status: 201,
    output: z.object({ key: vaultKeyRecord }),
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
  steps: endpoint({
    ...use,
    id: "vaultKeys.steps",
    method: "GET",
    path: "/api/vaults/{vaultId}/keys/steps",
    scope: null,
    effect: "read",
    params: vaultParams,
    query: z.strictObject(pageQuery),
    status: 200,
    /** Those of the newest records first: the bytes in base64. */
    output: pageOf("steps", base64Bytes(LADDER_STEP.bytes)),
    errors: [...chainErrors, "not_a_member", "membership_ended"],
  }),
} as const;

const folderKey = z.object({
  /** null: the top of the vault. */
  folderId: z.nullable(uuid),
  /** The vault key whose subkey makes the folder's name index; null while the folder is empty. */
  keyId: z.nullable(sha256Hex),
});

export const folderNamesGroup = {
  get: endpoint({
    ...use,
    id: "folderNames.get",
    method: "GET",
    path: "/api/vaults/{vaultId}/names",
    scope: "files:read",
    effect: "read",
    params: vaultParams,
    query: z.strictObject({ folderId: z.optional(uuid) }),
    status: 200,
    output: folderKey,
    errors: [...chainErrors, "not_a_member", "membership_ended", "tree_busy"],
  }),
  stage: endpoint({
    ...use,
    id: "folderNames.stage",
    method: "PUT",
    path: "/api/vaults/{vaultId}/names",
    scope: "files:write",
    effect: "update",
    params: vaultParams,
    body: z.strictObject({
      folderId: z.nullable(uuid),
      /** The new key; its generation must be the vault's current one. */
      keyId: sha256Hex,
      entries: z.array(sharedEntry).check(z.maxLength(MAX_STAGED)),
    }),
    status: 200,
    output: z.object({
      folderId: z.nullable(uuid),
      /** The folder's key after this call: the new one once every live entry was staged. */
      keyId: z.nullable(sha256Hex),
      /** Live entries that are not staged under the new key yet. */
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
