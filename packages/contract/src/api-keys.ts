import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { budgets, budgetUse, requestedBudgets } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { base64Bytes, chainAddress, label, openEnum, nextPage, pageQuery, timestamp, uuid } from "./values.ts";

const rights = {
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  vaultIds: z.nullable(z.array(uuid)),
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress: z.nullable(chainAddress),
  /** How much the key may store, write and ask. null: it has no budgets. */
  budgets,
};

/** A key as it is listed: never the raw key (specification §2.4). */
const apiKeySchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
  /** First characters of the key, up to its underscore. */
  prefix: z.string(),
  /** Last four characters of the key, to tell keys apart. */
  last4: z.string(),
  ...rights,
  /** Ed25519 public key that proved the address: 32 bytes in base64. null: another kind of signer did. */
  chainPublicKey: z.nullable(base64Bytes(32)),
  /** `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks. */
  accessLevel: openEnum(["owner", "agent"]),
  /** What is used and left of each budget that the key has. null: it has none. */
  budgetUse,
  /** When it ends: RFC 3339 in UTC. null: never. */
  expiresAt: z.nullable(timestamp),
  /** When it was last used: RFC 3339 in UTC. null: never. */
  lastUsedAt: z.nullable(timestamp),
  /** When it was revoked: RFC 3339 in UTC. null: it was not. */
  revokedAt: z.nullable(timestamp),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** An API key, without the key itself. */
export interface ApiKey extends Parsed<typeof apiKeySchema> {}

export const apiKey: Named<ApiKey> = apiKeySchema;

/** A key just made: `key` is the full raw key, shown once. */
const createdApiKeySchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
  /** The full API key. It is a secret and is shown once. */
  key: z.string(),
  /** First characters of the key, up to its underscore. */
  prefix: z.string(),
  ...rights,
  /** When it ends: RFC 3339 in UTC. null: never. */
  expiresAt: z.nullable(timestamp),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** A new API key. Only this result holds the key itself. */
export interface CreatedApiKey extends Parsed<typeof createdApiKeySchema> {}

export const createdApiKey: Named<CreatedApiKey> = createdApiKeySchema;

const keyParams = object({
  /** UUID of the API key. */
  keyId: uuid,
});
const ownerEndpoint = { auth: "credential", access: "owner" } as const;

export const apiKeysGroup = {
  /** Create an API key; the raw key is in this answer and nowhere else. */
  create: endpoint({
    ...ownerEndpoint,
    vaultLimit: "none",
    id: "apiKeys.create",
    method: "POST",
    path: "/api/auth/api-keys",
    scope: "api-keys:write",
    effect: "create",
    body: strictObject({
      /** Name of the key, for people to read: 1 to 200 characters. */
      name: label,
      /** What it may do, such as `files:read`. Default: everything its access level allows. */
      scopes: z.optional(z.array(z.enum(SCOPES)).check(z.minLength(1), z.maxLength(SCOPES.length))),
      /** UUIDs of the vaults it may use, 1 to 1,000. Default: every vault. */
      vaultIds: z.optional(z.array(uuid).check(z.minLength(1), z.maxLength(1000))),
      /** Sui address of the key: `0x` and 64 hex digits. Default: none. */
      chainAddress: z.optional(chainAddress),
      /** Signature that proves the address. Default: none, which only the account's own address allows. */
      addressProof: z.optional(
        strictObject({
          /** Serialised Sui signature of the expected text, in base64. */
          signature: chainSignature,
          /** When it was signed: RFC 3339 in UTC. It may differ from the service's clock by 5 minutes. */
          signedAt: timestamp,
        }),
      ),
      /** Days until the key ends: more than 0, at most 3,650; fractions are allowed. Default: with the credential of this call, or never. */
      expiresInDays: z.optional(z.number().check(z.gt(0), z.lte(3650))),
      /** How much the key may store, write and ask. Default: the budgets of the credential of this call, counted together with it, or none. */
      budgets: z.optional(requestedBudgets),
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
  /** List API keys, revoked and expired ones included, newest first. */
  list: endpoint({
    ...ownerEndpoint,
    vaultLimit: "filter",
    id: "apiKeys.list",
    method: "GET",
    path: "/api/auth/api-keys",
    scope: "api-keys:read",
    effect: "read",
    query: strictObject(pageQuery),
    status: 200,
    output: object({
      /** API keys, newest first. */
      apiKeys: z.array(apiKey),
      ...nextPage,
    }),
    errors: [],
  }),
  /** One API key. */
  get: endpoint({
    ...ownerEndpoint,
    vaultLimit: "object",
    id: "apiKeys.get",
    method: "GET",
    path: "/api/auth/api-keys/{keyId}",
    scope: "api-keys:read",
    effect: "read",
    params: keyParams,
    status: 200,
    output: object({
      /** The key. The raw key is never shown again. */
      apiKey,
    }),
    errors: ["not_found"],
  }),
  /** Revoke an API key at once; a second call changes nothing. */
  revoke: endpoint({
    ...ownerEndpoint,
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
  /** Make a new key with the same rights; the old one ends after overlapHours (default 0: at once). */
  rotate: endpoint({
    ...ownerEndpoint,
    vaultLimit: "object",
    id: "apiKeys.rotate",
    method: "POST",
    path: "/api/auth/api-keys/{keyId}/rotate",
    scope: "api-keys:write",
    effect: "create",
    params: keyParams,
    body: strictObject({
      /** Hours that the old key still works: 0 to 168. Default: 0, it ends at once. */
      overlapHours: z.optional(z.int().check(z.gte(0), z.lte(168))),
    }),
    bodyOptional: true,
    status: 201,
    output: createdApiKey,
    errors: ["not_found", "key_inactive", "limit_reached", "scope_too_wide"],
    secretResponse: true,
  }),
} as const;
