import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { ownerProof } from "./proofs.ts";
import {
  booleanText,
  chainAddress,
  itemName,
  openEnum,
  nextPage,
  pageQuery,
  timestamp,
  uuid,
  idPrefix,
} from "./values.ts";

export const VAULT_TYPES = ["public", "shared"] as const;

/** A vault. `chainObjectId` names the on-chain allowlist of a shared vault, null for a public one. */
const vaultSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
  /** `public`: the service can read the files. `shared`: only members can. */
  type: openEnum(VAULT_TYPES),
  /** Sui id of the vault's allowlist: `0x` and 64 lower-case hex digits. null: a public vault. */
  chainObjectId: z.nullable(chainAddress),
  /** Whether files go here when you name no vault. The default vault cannot be deleted. */
  isDefault: z.boolean(),
  /** `owner`: the vault is yours. `agent`: it is the account's whose agent you are. `member`: it belongs to another account, whose storage it uses. */
  role: openEnum(["owner", "agent", "member"]),
  /** Number that rises when the vault changes keys. null: a public vault. */
  generation: z.nullable(z.int()),
  /** Whether the service can read file and folder names. Fixed at creation. null: a public vault. */
  plainNames: z.nullable(z.boolean()),
  /** Days that replaced versions stay. null: as the service's setting says. */
  keepVersionsDays: z.nullable(z.int()),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When it last changed: RFC 3339 in UTC, with milliseconds. */
  updatedAt: timestamp,
  /** When it was moved to the trash: RFC 3339 in UTC. null: it is not in the trash. */
  trashedAt: z.nullable(timestamp),
});

/** A vault. */
export interface Vault extends Parsed<typeof vaultSchema> {}

export const vault: Named<Vault> = vaultSchema;

const vaultParams = object({
  /** UUID of the vault. */
  vaultId: uuid,
});
/** Errors of a change of a shared vault that needs its owner's proof. */
export const OWNER_PROOF_ERRORS = [
  "owner_proof_required",
  "token_invalid",
  "signature_invalid",
  "not_configured",
  "chain_unavailable",
] as const;

const ownerEndpoint = { auth: "credential", access: "owner", scope: "vaults:write" } as const;

export const vaultsGroup = {
  /** Create a vault. */
  create: endpoint({
    ...ownerEndpoint,
    id: "vaults.create",
    method: "POST",
    path: "/api/vaults",
    vaultLimit: "refuse",
    effect: "create",
    body: strictObject({
      /** Name: at most 255 bytes of UTF-8. */
      name: itemName,
      /** `public`: the service can read the files. `shared`: only members can. */
      type: z.enum(VAULT_TYPES),
      /** Sui id of the allowlist of a shared vault: `0x` and 64 hex digits. Default: none, for a public vault. */
      chainObjectId: z.optional(chainAddress),
    }),
    status: 201,
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: [
      "name_exists",
      "limit_reached",
      "shared_vaults_unavailable",
      "chain_object_invalid",
      "chain_object_taken",
      "address_required",
      "chain_unavailable",
    ],
  }),
  /** List vaults, newest first. */
  list: endpoint({
    id: "vaults.list",
    method: "GET",
    path: "/api/vaults",
    auth: "credential",
    access: "agent",
    scope: null,
    vaultLimit: "filter",
    effect: "read",
    query: strictObject({
      ...pageQuery,
      /** `public` or `shared`. Default: both. */
      type: z.optional(z.enum(VAULT_TYPES)),
      /** `true`: vaults of other accounts that have you as a member. Default: `false`. */
      shared: z.optional(booleanText),
      /** Lists only ids that begin with these 8 or more hex digits, dashes or not. Default: every id. */
      idPrefix,
    }),
    status: 200,
    output: object({
      /** Vaults, newest first. */
      vaults: z.array(vault),
      ...nextPage,
    }),
    errors: [],
  }),
  /** One vault. */
  get: endpoint({
    id: "vaults.get",
    method: "GET",
    path: "/api/vaults/{vaultId}",
    auth: "credential",
    access: "agent",
    scope: null,
    vaultLimit: "object",
    effect: "read",
    params: vaultParams,
    status: 200,
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: ["not_found"],
  }),
  /** Rename a vault. */
  update: endpoint({
    ...ownerEndpoint,
    id: "vaults.update",
    method: "PATCH",
    path: "/api/vaults/{vaultId}",
    vaultLimit: "object",
    effect: "update",
    params: vaultParams,
    /** In a shared vault the owner proves to be there before versions end sooner. */
    headers: object({
      /** Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault. */
      "coffer-proof": z.optional(ownerProof),
    }),
    body: strictObject({
      /** New name. Default: unchanged. */
      name: z.optional(itemName),
      /** Days that replaced versions stay, those kept already included: 1 to 365. null: as the service's setting says. Default: unchanged. */
      keepVersionsDays: z.optional(z.nullable(z.int().check(z.gte(1), z.lte(365)))),
    }),
    status: 200,
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: ["not_found", "name_exists", ...OWNER_PROOF_ERRORS],
  }),
  /** Move a vault to the trash, with force=true also one that is not empty; the owner deletes for good with permanent=true (204). The bytes leave the server's disk 24 hours later. */
  delete: endpoint({
    ...ownerEndpoint,
    id: "vaults.delete",
    method: "DELETE",
    path: "/api/vaults/{vaultId}",
    vaultLimit: "object",
    effect: "delete",
    params: vaultParams,
    query: strictObject({
      /** `true`: moves the vault to the trash even when it holds files. Default: `false`. */
      force: z.optional(booleanText),
      /** `true`: deletes for good, with no way back. The bytes leave the server's disk 24 hours later. Default: `false`, to the trash. */
      permanent: z.optional(booleanText),
    }),
    headers: object({
      /** Nonce of a deletion challenge, a dot, and the owner's signature. Default: none, in a public vault. */
      "coffer-proof": z.optional(ownerProof),
    }),
    status: 200,
    otherStatuses: [204],
    output: object({
      /** The vault as it is now. */
      vault,
    }),
    errors: ["not_found", "vault_not_empty", "default_vault", "tree_busy", ...OWNER_PROOF_ERRORS],
  }),
} as const;
