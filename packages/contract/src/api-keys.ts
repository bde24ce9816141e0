import * as z from "zod/mini";
import { budgets, budgetUse, wantedBudgets } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { base64Bytes, chainAddress, label, openEnum, pageOf, pageQuery, timestamp, uuid } from "./values.ts";

const rights = {
  /** null: everything the access level allows. */
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  /** null: every vault of the account. */
  vaultIds: z.nullable(z.array(uuid)),
  chainAddress: z.nullable(chainAddress),
  /** Shared by a key and those that it was rotated to. null: it has none. */
  budgets,
};

/** A key as it is listed: never the raw key (specification §2.4). */
export const apiKey = z.object({
  id: uuid,
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  ...rights,
  /** The Ed25519 public key that proved the address, in base64; the address is its hash. null where another signer proved it. */
  chainPublicKey: z.nullable(base64Bytes(32)),
  accessLevel: openEnum(["owner", "agent"]),
  budgetUse,
  expiresAt: z.nullable(timestamp),
  lastUsedAt: z.nullable(timestamp),
  revokedAt: z.nullable(timestamp),
  createdAt: timestamp,
});

/** A key just made: `key` is the full raw key, shown once. */
export const createdApiKey = z.object({
  id: uuid,
  name: z.string(),
  key: z.string(),
  prefix: z.string(),
  ...rights,
  expiresAt: z.nullable(timestamp),
  createdAt: timestamp,
});

export interface ApiKey extends z.infer<typeof apiKey> {}
export interface CreatedApiKey extends z.infer<typeof createdApiKey> {}

const keyParams = z.object({ keyId: uuid });
const owned = { auth: "credential", access: "owner" } as const;

export const apiKeysGroup = {
  create: endpoint({
    ...owned,
    vaultLimit: "none",
    id: "apiKeys.create",
    method: "POST",
    path: "/api/auth/api-keys",
    scope: "api-keys:write",
    effect: "create",
    body: z.strictObject({
      name: label,
      scopes: z.optional(z.array(z.enum(SCOPES)).check(z.minLength(1), z.maxLength(SCOPES.length))),
      vaultIds: z.optional(z.array(uuid).check(z.minLength(1), z.maxLength(1000))),
      chainAddress: z.optional(chainAddress),
      /** A signature of `renderKeyAddressText`; needed for an address other than the account's own linked one. */
      addressProof: z.optional(z.strictObject({ signature: chainSignature, signedAt: timestamp })),
      /** May have a fraction; the key ends at the next whole millisecond. */
      expiresInDays: z.optional(z.number().check(z.gt(0), z.lte(3650))),
      /** Without them a key has those of its maker, and counts together with it. */
      budgets: z.optional(wantedBudgets),
    }),
    status: 201,
    output: createdApiKey,
    errors: [
      "not_found",
      "scope_too_wide",
      "scope_owner_only",
      "limit_reached",
      "signature_invalid",
      "clock_skew",
      "address_conflict",
      "not_configured",
      "chain_unavailable",
    ],
    secretResponse: true,
  }),
  list: endpoint({
    ...owned,
    vaultLimit: "filter",
    id: "apiKeys.list",
    method: "GET",
    path: "/api/auth/api-keys",
    scope: "api-keys:read",
    effect: "read",
    query: z.strictObject(pageQuery),
    status: 200,
    output: pageOf("apiKeys", apiKey),
    errors: [],
  }),
  get: endpoint({
    ...owned,
    vaultLimit: "object",
    id: "apiKeys.get",
    method: "GET",
    path: "/api/auth/api-keys/{keyId}",
    scope: "api-keys:read",
    effect: "read",
    params: keyParams,
    status: 200,
    output: z.object({ apiKey }),
    errors: ["not_found"],
  }),
  revoke: endpoint({
    ...owned,
    vaultLimit: "object",
    id: "apiKeys.revoke",
    method: "DELETE",
    path: "/api/auth/api-keys/{keyId}",
    scope: "api-keys:write",
    effect: "delete",
    params: keyParams,
    status: 204,
    errors: ["not_found"],
  }),
  rotate: endpoint({
    ...owned,
    vaultLimit: "object",
    id: "apiKeys.rotate",
    method: "POST",
    path: "/api/auth/api-keys/{keyId}/rotate",
    scope: "api-keys:write",
    effect: "create",
    params: keyParams,
    body: z.strictObject({ overlapHours: z.optional(z.int().check(z.gte(0), z.lte(168))) }),
    bodyOptional: true,
    status: 201,
    output: createdApiKey,
    errors: ["not_found", "key_inactive", "limit_reached", "scope_too_wide"],
    secretResponse: true,
  }),
} as const;
