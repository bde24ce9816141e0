/** Access tokens looked at, and made, without a JWT library: the second pair of eyes on what the server signs. */
import { createHash, createHmac } from "node:crypto";

type Claims = Readonly<Record<string, unknown>>;

interface ReadToken {
  readonly header: Claims;
  readonly claims: Claims;
}

/** What a development server signs with when nothing is set: no secret, anybody can read it in its source. */
export const DEVELOPMENT_JWT_KEY = createHash("sha256").update("coffer development JWT key").digest();

/** Header and claims, unverified. */
export function readToken(token: string): ReadToken {
  const [header = "", claims = ""] = token.split(".");
  const parse = (part: string): Claims => JSON.parse(Buffer.from(part, "base64url").toString()) as Claims;
  return { header: parse(header), claims: parse(claims) };
}

/** RFC 7515 §3: signs with HS256. */
export function signToken({ header, claims }: ReadToken, secret: Uint8Array): string {
  const part = (value: Claims): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/** The same token as if it had been signed `seconds` earlier: the clock of a running server cannot be moved. */
export function agedToken(token: string, seconds: number, secret: Uint8Array): string {
  const { header, claims } = readToken(token);
  const moved = { iat: Number(claims["iat"]) - seconds, exp: Number(claims["exp"]) - seconds };
  return signToken({ header, claims: { ...claims, ...moved } }, secret);
}
