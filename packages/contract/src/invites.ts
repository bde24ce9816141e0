/** Invite codes: how an agent gets its own key (specification §2.5, §5.8; decisions §4). */
import * as z from "zod/mini";
import { budgets, budgetUse, wantedBudgets } from "./budgets.ts";
import { endpoint } from "./endpoint.ts";
import { membershipEnd } from "./ends.ts";
import { chainSignature } from "./proofs.ts";
import { SCOPES } from "./scopes.ts";
import { chainAddress, label, openEnum, pageOf, pageQuery, sha256Hex, timestamp, uuid } from "./values.ts";

/** Specification §8. */
export const INVITE_HOURS = { standard: 1, maximum: 72 } as const;

const rights = {
  /** null: everything an agent may do. */
  scopes: z.nullable(z.array(openEnum(SCOPES))),
  /** null: every vault of the account. */
  vaultIds: z.nullable(z.array(uuid)),
  /** Those of the key that it makes. null: it has none. */
  budgets,
};

/** When the key made by the invite ends, and a membership made by it; null: no end was asked for. */
const accessUntil = z.nullable(timestamp);

/** 32 bytes in base64. */
const signingKey = z.string().check(z.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, "expected 32 bytes in base64"));

/** An invite as it is listed: never the code. */
export const invite = z.object({
  id: uuid,
  name: z.string(),
  status: openEnum(["created", "used", "revoked", "expired"]),
  ...rights,
  accessUntil,
  expiresAt: timestamp,
  createdAt: timestamp,
  usedAt: z.nullable(timestamp),
  revokedAt: z.nullable(timestamp),
  /** The key that redeeming made, and the address it is bound to. */
  keyId: z.nullable(uuid),
  chainAddress: z.nullable(chainAddress),
  /** What the redeemer sent to prove to the inviter that it held the whole invite; the service cannot check it. */
  addressProof: z.nullable(z.string()),
  /** The Ed25519 key of the redeemer's statements, in base64, where its chain key is not its own; the proof vouches for it. */
  signingKey: z.nullable(signingKey),
  /** What its key has used; nothing before it is redeemed. */
  budgetUse,
});

/** An invite just made: `code` is shown once. */
const createdInvite = z.object({
  id: uuid,
  name: z.string(),
  code: z.string(),
  ...rights,
  accessUntil,
  expiresAt: timestamp,
  createdAt: timestamp,
});

const redeemedInvite = z.object({
  /** The full raw key, shown once. */
  key: z.string(),
  keyId: uuid,
  accountId: uuid,
  ...rights,
  chainAddress,
  accessLevel: openEnum(["agent"]),
  /** When the key ends; null: never. */
  expiresAt: z.nullable(timestamp),
});

export interface Invite extends z.infer<typeof invite> {}
export interface CreatedInvite extends z.infer<typeof createdInvite> {}
export interface RedeemedInvite extends z.infer<typeof redeemedInvite> {}

const owned = { auth: "credential", access: "owner" } as const;

export const invitesGroup = {
  create: endpoint({
    ...owned,
    id: "invites.create",
    method: "POST",
    path: "/api/auth/invites",
    scope: "invites:write",
    vaultLimit: "none",
    effect: "create",
    body: z.strictObject({
      name: label,
      scopes: z.optional(z.array(z.enum(SCOPES)).check(z.minLength(1), z.maxLength(SCOPES.length))),
      vaultIds: z.optional(z.array(uuid).check(z.minLength(1), z.maxLength(1000))),
      // Above the maximum is an error, never a silent clamp (decisions §0).
      expiresInHours: z.optional(z.number().check(z.gt(0), z.lte(INVITE_HOURS.maximum))),
      /** Never before the invite's own end. Without `expiresInHours` the invite ends no later than this. */
      accessUntil: z.optional(membershipEnd),
      /** Without them the key has those of the invite's maker, and counts together with it. */
      budgets: z.optional(wantedBudgets),
    }),
    status: 201,
    output: createdInvite,
    errors: ["not_found", "scope_owner_only", "scope_too_wide", "limit_reached"],
    secretResponse: true,
  }),
  list: endpoint({
    ...owned,
    id: "invites.list",
    method: "GET",
    path: "/api/auth/invites",
    scope: "invites:read",
    vaultLimit: "filter",
    effect: "read",
    query: z.strictObject(pageQuery),
    status: 200,
    output: pageOf("invites", invite),
    errors: [],
  }),
  revoke: endpoint({
    ...owned,
    id: "invites.revoke",
    method: "DELETE",
    path: "/api/auth/invites/{inviteId}",
    scope: "invites:write",
    vaultLimit: "object",
    effect: "delete",
    params: z.object({ inviteId: uuid }),
    status: 204,
    errors: ["not_found"],
  }),
  redeem: endpoint({
    id: "invites.redeem",
    method: "POST",
    path: "/api/auth/invites/redeem",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "create",
    body: z.strictObject({
      code: z.string().check(z.minLength(1), z.maxLength(256)),
      chainAddress,
      /** A signature of `renderRedeemText`; optional only where a development server waives it. */
      signature: z.optional(chainSignature),
      /** RFC 3339, by the redeemer's clock; the signed text carries the same words. */
      signedAt: z.optional(timestamp),
      addressProof: z.optional(sha256Hex),
      /**
       * The same key as in the proof, which the inviter's client checks with it. Left out if the chain key signs
       * statements itself.
       */
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
