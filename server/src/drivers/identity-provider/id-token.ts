/** The checks of an ID token (OpenID Connect Core §3.1.3.7), with the clock of the service. */
import * as jose from "jose";
import * as z from "zod/mini";
import type { Clock } from "../../ports/clock.ts";
import { type Identity, IdentityRefusedError } from "../../ports/identity-provider.ts";
import type { Discovered } from "./discovery.ts";

/** Asymmetric ones only: no `none`, and no HMAC, whose key would be the client's secret (RFC 8725 §3.1). */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

const claims = z.object({
  iss: z.string().check(z.minLength(1)),
  sub: z.string().check(z.minLength(1), z.maxLength(255)),
  aud: z.union([z.string(), z.array(z.string()).check(z.length(1))]),
  azp: z.optional(z.string()),
  nonce: z.optional(z.string()),
});

/** The claims of the scopes email and profile; in the ID token or at the user-info endpoint. */
export const profileClaims = z.object({
  email: z.catch(z.optional(z.string().check(z.maxLength(320))), undefined),
  // Some providers write it as text.
  email_verified: z.catch(z.optional(z.union([z.boolean(), z.literal("true")])), undefined),
  name: z.catch(z.optional(z.string()), undefined),
});

export type ProfileClaims = z.infer<typeof profileClaims>;

const MAX_NAME = 200;

/**
 * Seconds by which a token may begin in the future. Providers that write `nbf` write the moment of issue, and two
 * clocks are never the same. The end has no such leeway.
 */
const CLOCK_AHEAD = 30;

/** Rejects with the errors of jose, or {@link IdentityRefusedError}. */
export async function verifyIdToken(
  idToken: string,
  provider: Discovered,
  expected: { readonly clientId: string; readonly clock: Clock },
): Promise<Identity> {
  const now = expected.clock.now();
  const { payload } = await jose.jwtVerify(idToken, provider.keys, {
    issuer: provider.issuer,
    audience: expected.clientId,
    algorithms: ALGORITHMS,
    requiredClaims: ["exp", "iat", "sub"],
    currentDate: new Date(now),
    clockTolerance: CLOCK_AHEAD,
  });
  if ((payload.exp ?? 0) * 1000 <= now) throw new IdentityRefusedError("the ID token has expired");
  const parsed = z.safeParse(claims, payload);
  if (!parsed.success) throw new IdentityRefusedError("the ID token lacks a claim, or names more than one audience");
  const { iss, sub, azp, nonce } = parsed.data;
  if (azp !== undefined && azp !== expected.clientId) {
    throw new IdentityRefusedError("the ID token was issued to another client");
  }
  return {
    issuer: iss,
    audience: expected.clientId,
    subject: sub,
    ...profileOf(z.parse(profileClaims, payload)),
    nonce: nonce ?? null,
    idToken,
  };
}

export function profileOf(profile: ProfileClaims): Pick<Identity, "email" | "emailVerified" | "name"> {
  const name = profile.name?.trim().slice(0, MAX_NAME).toWellFormed().trim();
  return {
    email: profile.email ?? null,
    emailVerified: profile.email !== undefined && (profile.email_verified ?? false) !== false,
    name: name === undefined || name === "" ? null : name,
  };
}
