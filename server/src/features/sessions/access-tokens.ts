/** Access tokens: HS256 JWTs of 15 minutes (specification §2.7), which name the session they belong to. */
import { createHmac, createSecretKey, hash } from "node:crypto";
import { ACCESS_TOKEN_SECONDS, type SessionTokens } from "@coffer/contract";
import { jwtVerify, type JWTHeaderParameters } from "jose";
import * as z from "zod/mini";
import type { JwtKey } from "../../config.ts";
import type { Deps } from "../../deps.ts";

/** What a token says. Times in seconds since the Unix epoch (RFC 7519 §2, NumericDate). */
export interface AccessClaims {
  readonly sub: string;
  readonly sid: string;
  readonly iat: number;
  readonly exp: number;
}

export interface TokenSubject {
  readonly accountId: string;
  readonly sessionId: string;
  /** Milliseconds since the Unix epoch: no token is valid beyond its session. */
  readonly endsAt: number;
}

/**
 * A new token, signed with the first key.
 *
 * Signed here and not by jose, which only signs asynchronously on the thread pool. Sessions are opened inside a
 * transaction, and its work must not wait for anything but its own queries (ports/database.ts). The form is RFC 7515
 * §7.1 with RFC 7518 §3.2; jose reads it.
 */
export function mintAccessToken(
  { clock, random, jwtKeys }: Pick<Deps, "clock" | "random" | "jwtKeys">,
  { accountId, sessionId, endsAt }: TokenSubject,
): Pick<SessionTokens, "accessToken" | "expiresIn"> {
  const [key] = jwtKeys;
  if (key === undefined) throw new Error("there is no key to sign access tokens with");
  const iat = Math.floor(clock.now() / 1000);
  const exp = Math.min(iat + ACCESS_TOKEN_SECONDS, Math.floor(endsAt / 1000));
  const claims = { sub: accountId, sid: sessionId, iat, exp, jti: random.uuid() };
  const signed = `${encode({ alg: "HS256", kid: key.kid, typ: "JWT" })}.${encode({ ...claims, typ: "access" })}`;
  const signature = createHmac("sha256", key.secret).update(signed).digest("base64url");
  return { accessToken: `${signed}.${signature}`, expiresIn: exp - iat };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Whether a token was signed here. Each use checks whether its time is over, and its session still open. */
export interface AccessTokens {
  /** The claims of a token whose signature was verified before; null when it has to be verified. */
  recall(token: string): AccessClaims | null;
  /** The claims of a token that was signed here; null for any other text. Never rejects. */
  verify(token: string): Promise<AccessClaims | null>;
  /** Remembers that the token was over, so that a clock that is set back does not bring it back. */
  markExpired(token: string): void;
}

/** Verified tokens kept in memory; all are forgotten when there are more. */
const REMEMBERED = 10_000;
/** How far another process's clock may be ahead, in milliseconds. */
const CLOCK_AHEAD = 5_000;

const claimsSchema = z.object({
  sub: z.string(),
  sid: z.string(),
  iat: z.int(),
  exp: z.int(),
  jti: z.string(),
  typ: z.literal("access"),
});

/**
 * A signature that was right once is right for as long as the keys are the same, so it is verified once per token. The
 * requests after the first need no turn on the thread pool, which uploads and password hashes share.
 */
export function createAccessTokens(keys: readonly JwtKey[]): AccessTokens {
  const secrets = new Map(keys.map(({ kid, secret }) => [kid, createSecretKey(secret)]));
  const verified = new Map<string, AccessClaims>();
  const keyOf = ({ kid }: JWTHeaderParameters) => {
    const secret = secrets.get(kid ?? "");
    if (secret === undefined) throw new Error("no key of that name");
    return secret;
  };
  const remember = (token: string, claims: AccessClaims): void => {
    if (verified.size >= REMEMBERED) verified.clear();
    verified.set(nameOf(token), claims);
  };
  return {
    recall: (token) => verified.get(nameOf(token)) ?? null,
    async verify(token) {
      try {
        // Only HS256 (RFC 8725 §3.1); times are compared by `isOver` and `isFromTheFuture`, with the injected clock.
        const { payload } = await jwtVerify(token, keyOf, { algorithms: ["HS256"], currentDate: NO_TIME });
        const claims = z.parse(claimsSchema, payload);
        remember(token, claims);
        return claims;
      } catch {
        return null;
      }
    },
    markExpired: (token) => remember(token, OVER),
  };
}

/** The claims of every token that was seen after its time. */
const OVER: AccessClaims = { sub: "", sid: "", iat: 0, exp: 0 };

/** Replaces the clock, so that jose compares nothing with the system's. */
const NO_TIME = new Date(0);

/** The token itself is not kept in memory. */
function nameOf(token: string): string {
  return hash("sha256", token, "base64url");
}

/** Whether `exp` has come (RFC 7519 §4.1.4), without leeway. `now` in milliseconds. */
export function isOver({ exp }: AccessClaims, now: number): boolean {
  return now >= exp * 1000;
}

/** Whether the token was made later than another clock than ours can explain. `now` in milliseconds. */
export function isFromTheFuture({ iat }: AccessClaims, now: number): boolean {
  return iat * 1000 > now + CLOCK_AHEAD;
}
