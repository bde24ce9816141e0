/** Invite codes: how an agent gets its own key (specification §2.5, §5.8; decisions §4). */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { budgets, budgetUse, requestedBudgets } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { membershipEnd } from "./membership-ends.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { chainAddress, label, openEnum, nextPage, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";

/** Specification §8. */
export const INVITE_HOURS = { standard: 1, maximum: 72 } as const;

const rights = {
  /** What it may do, such as `files:read`. null: everything its access level allows. */
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  /** UUIDs of the vaults it may use. null: every vault of the account. */
  vaultIds: z.nullable(z.array(uuid)),
  /** How much the invite's key may store, write and ask. null: it has no budgets. */
  budgets,
};

/** When the key made by the invite ends, and a membership made by it; null: no end was asked for. */
const accessUntil = z.nullable(timestamp);

/** 32 bytes in base64. */
const signingKey = z.string().check(z.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, "expected 32 bytes in base64"));

/** An invite as it is listed: never the code. */
const inviteSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
  /** `created`, `used`, `revoked` or `expired`. */
  status: openEnum(["created", "used", "revoked", "expired"]),
  ...rights,
  /** When the key that the invite makes ends, and its memberships: RFC 3339 in UTC. null: never. */
  accessUntil,
  /** When the invite ends: RFC 3339 in UTC. */
  expiresAt: timestamp,
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When the invite was redeemed: RFC 3339 in UTC. null: it was not. */
  usedAt: z.nullable(timestamp),
  /** When it was revoked: RFC 3339 in UTC. null: it was not. */
  revokedAt: z.nullable(timestamp),
  /** UUID of the API key that redeeming made. null: not redeemed. */
  keyId: z.nullable(uuid),
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress: z.nullable(chainAddress),
  /** What the redeemer sent to prove its address to you: 64 hex digits. null: nothing. */
  addressProof: z.nullable(z.string()),
  /** Ed25519 key that signs the redeemer's statements: 32 bytes in base64. null: its chain key does. */
  signingKey: z.nullable(signingKey),
  /** What is used and left of each budget that the key has. null: it has none. */
  budgetUse,
});

/** An invite, without its code. */
export interface Invite extends Parsed<typeof inviteSchema> {}

export const invite: Named<Invite> = inviteSchema;

/** An invite just made: `code` is shown once. */
const createdInviteSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** Name that the owner chose. */
  name: z.string(),
  /** The invite code. It is a secret, works once and is shown once. */
  code: z.string(),
  ...rights,
  /** When the key that the invite makes ends, and its memberships: RFC 3339 in UTC. null: never. */
  accessUntil,
  /** When the invite ends: RFC 3339 in UTC. */
  expiresAt: timestamp,
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
});

/** A new invite. Only this result holds its code. */
export interface CreatedInvite extends Parsed<typeof createdInviteSchema> {}

const createdInvite: Named<CreatedInvite> = createdInviteSchema;

const redeemedInviteSchema = object({
  /** The full API key. It is a secret and is shown once. */
  key: z.string(),
  /** UUID of the new API key. */
  keyId: uuid,
  /** UUID of the account that made the invite. */
  accountId: uuid,
  ...rights,
  /** Sui address: `0x` and 64 lower-case hex digits. null: none. */
  chainAddress,
  /** `owner`: may do everything its scopes allow. `agent`: may not manage vaults, keys, members, billing or webhooks. */
  accessLevel: openEnum(["agent"]),
  /** When it ends: RFC 3339 in UTC. null: never. */
  expiresAt: z.nullable(timestamp),
});

/** The key that an invite gave. Only this result holds it. */
export interface RedeemedInvite extends Parsed<typeof redeemedInviteSchema> {}

const redeemedInvite: Named<RedeemedInvite> = redeemedInviteSchema;

const ownerEndpoint = { auth: "credential", access: "owner" } as const;

export const invitesGroup = {
  /** Create a single-use invite code; the code is in this answer and nowhere else. */
  create: endpoint({
    ...ownerEndpoint,
    id: "invites.create",
    method: "POST",
    path: "/api/auth/invites",
    scope: "invites:write",
    vaultLimit: "none",
    effect: "create",
    body: strictObject({
      /** Name of the invite and of the key it makes: 1 to 200 characters. */
      name: label,
      /** What it may do, such as `files:read`. Default: everything its access level allows. */
      scopes: z.optional(z.array(z.enum(SCOPES)).check(z.minLength(1), z.maxLength(SCOPES.length))),
      /** UUIDs of the vaults it may use, 1 to 1,000. Default: every vault. */
      vaultIds: z.optional(z.array(uuid).check(z.minLength(1), z.maxLength(1000))),
      // Above the maximum is an error, never a silent clamp (decisions §0).

      /** Hours until the invite ends: more than 0, at most 72; fractions are allowed. Default: 1. */
      expiresInHours: z.optional(z.number().check(z.gt(0), z.lte(INVITE_HOURS.maximum))),
      /** When the new key ends, and memberships that the invite leads to: RFC 3339 in UTC, a whole quarter of an hour. Not before the invite ends. Default: never. */
      accessUntil: z.optional(membershipEnd),
      /** How much the key may store, write and ask. Default: the budgets of the credential of this call, counted together with it, or none. */
      budgets: z.optional(requestedBudgets),
    }),
    status: 201,
    output: createdInvite,
    errors: ["not_found", "scope_owner_only", "scope_too_wide", "limit_reached"],
    secretResponse: true,
  }),
  /** List invites with their status, newest first. */
  list: endpoint({
    ...ownerEndpoint,
    id: "invites.list",
    method: "GET",
    path: "/api/auth/invites",
    scope: "invites:read",
    vaultLimit: "filter",
    effect: "read",
    query: strictObject(pageQuery),
    status: 200,
    output: object({
      /** Invites, newest first. */
      invites: z.array(invite),
      ...nextPage,
    }),
    errors: [],
  }),
  /** Revoke an invite that nobody has used; a second call changes nothing. */
  revoke: endpoint({
    ...ownerEndpoint,
    id: "invites.revoke",
    method: "DELETE",
    path: "/api/auth/invites/{inviteId}",
    scope: "invites:write",
    vaultLimit: "object",
    effect: "delete",
    params: object({
      /** UUID of the invite. */
      inviteId: uuid,
    }),
    status: 204,
    errors: ["not_found"],
  }),
  /** Exchange an invite code for an agent's API key bound to the chain address that signed. */
  redeem: endpoint({
    id: "invites.redeem",
    method: "POST",
    path: "/api/auth/invites/redeem",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "create",
    body: strictObject({
      /** The invite code as you received it. */
      code: z.string().check(z.minLength(1), z.maxLength(256)),
      /** Sui address: `0x` and 64 lower-case hex digits. */
      chainAddress,
      /** Serialised Sui signature of the expected text, in base64. Default: none, which only some development servers accept. */
      signature: z.optional(chainSignature),
      /** When it was signed: RFC 3339 in UTC, within 5 minutes of the service's clock. Default: none, as for the signature. */
      signedAt: z.optional(timestamp),
      /** Proof for the inviter that you held the whole invite: 64 hex digits. Default: none. */
      addressProof: z.optional(sha256Hex),
      /** Ed25519 key of your statements: 32 bytes in base64. Default: the chain key signs them. */
      signingKey: z.optional(signingKey),
    }),
    status: 201,
    output: redeemedInvite,
    errors: [
      "not_found",
      "invite_ended",
      "address_conflict",
      "clock_skew",
      "signature_invalid",
      "limit_reached",
      "not_configured",
      "chain_unavailable",
    ],
    secretResponse: true,
  }),
} as const;
