import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { ownerProof } from "./proofs.ts";
import {
  booleanText,
  chainAddress,
  itemName,
  openEnum,
  pageOf,
  pageQuery,
  timestamp,
  uuid,
  idPrefix,
} from "./values.ts";

export const VAULT_TYPES = ["public", "shared"] as const;

/** A vault. `chainObjectId` names the on-chain allowlist of a shared vault, null for a public one. */
export const vault = z.object({
  id: uuid,
  name: z.string(),
  type: openEnum(VAULT_TYPES),
  chainObjectId: z.nullable(chainAddress),
  /** The vault of calls that name none; nobody can delete it. */
  isDefault: z.boolean(),
  /** `agent`: the vault is of the account whose agent the key is. `member`: it belongs to another account, whose storage its files count for. */
  role: openEnum(["owner", "agent", "member"]),
  /** What the service last read on the chain. If it is higher than yours, read the chain again; null for a public vault. */
  generation: z.nullable(z.int()),
  /** Names are not encrypted; fixed when the vault is made; null for a public vault. */
  plainNames: z.nullable(z.boolean()),
  /** Days that replaced versions stay; null: the service's own setting, or a shared vault. */
  keepVersionsDays: z.nullable(z.int()),
  createdAt: timestamp,
  updatedAt: timestamp,
  /** When it went to the trash; null: it is not in the trash. */
  trashedAt: z.nullable(timestamp),
});

export interface Vault extends z.infer<typeof vault> {}

const vaultParams = z.object({ vaultId: uuid });
/** Errors of a change of a shared vault that needs its owner's proof. */
export const OWNER_PROOF_ERRORS = [
  "owner_proof_required",
  "token_invalid",
  "signature_invalid",
  "not_configured",
  "chain_unavailable",
] as const;

const owned = { auth: "credential", access: "owner", scope: "vaults:write" } as const;

export const vaultsGroup = {
  create: endpoint({
    ...owned,
    id: "vaults.create",
    method: "POST",
    path: "/api/vaults",
    vaultLimit: "refuse",
    effect: "create",
    body: z.strictObject({
      name: itemName,
      type: z.enum(VAULT_TYPES),
      chainObjectId: z.optional(chainAddress),
    }),
    status: 201,
    output: z.object({ vault }),
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
  list: endpoint({
    id: "vaults.list",
    method: "GET",
    path: "/api/vaults",
    auth: "credential",
    access: "agent",
    scope: null,
    vaultLimit: "filter",
    effect: "read",
    query: z.strictObject({
      ...pageQuery,
      type: z.optional(z.enum(VAULT_TYPES)),
      /** true: the shared vaults of other accounts that have the caller's chain address as a member. */
      shared: z.optional(booleanText),
      idPrefix,
    }),
    status: 200,
    output: pageOf("vaults", vault),
    errors: [],
  }),
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
    output: z.object({ vault }),
    errors: ["not_found"],
  }),
  update: endpoint({
    ...owned,
    id: "vaults.update",
    method: "PATCH",
    path: "/api/vaults/{vaultId}",
    vaultLimit: "object",
    effect: "update",
    params: vaultParams,
    /** In a shared vault the owner proves to be there before versions end sooner. */
    headers: z.object({ "coffer-proof": z.optional(ownerProof) }),
    body: z.strictObject({
      name: z.optional(itemName),
      /** The days count for versions that are kept already, too. null: as the service's setting says. */
      keepVersionsDays: z.optional(z.nullable(z.int().check(z.gte(1), z.lte(365)))),
    }),
    status: 200,
    output: z.object({ vault }),
    errors: ["not_found", "name_exists", ...OWNER_PROOF_ERRORS],
  }),
  delete: endpoint({
    ...owned,
    id: "vaults.delete",
    method: "DELETE",
    path: "/api/vaults/{vaultId}",
    vaultLimit: "object",
    effect: "delete",
    params: vaultParams,
    query: z.strictObject({
      /** Also moves a live vault that is not empty. */
      force: z.optional(booleanText),
      /** Deletes for good, from the trash or at once: 204. */
      permanent: z.optional(booleanText),
    }),
    headers: z.object({ "coffer-proof": z.optional(ownerProof) }),
    status: 200,
    otherStatuses: [204],
    output: z.object({ vault }),
    errors: ["not_found", "vault_not_empty", "default_vault", "tree_busy", ...OWNER_PROOF_ERRORS],
  }),
} as const;
