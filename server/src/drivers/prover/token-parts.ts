/** The parts of an ID token that a proof shows to the chain beside itself. */
import * as jose from "jose";
import { ProverRefusedError, type ZkloginClaims } from "../../ports/zklogin.ts";

export interface TokenParts {
  readonly claims: Omit<ZkloginClaims, "salt">;
  readonly nonce: string | null;
  readonly headerBase64: string;
  /** The issuer's claim in the payload's base64, and where in a group of four it begins. */
  readonly issBase64Details: { readonly value: string; readonly indexMod4: number };
}

/** Throws {@link ProverRefusedError} for a token that zkLogin cannot read. The signature was checked before. */
export function partsOf(idToken: string): TokenParts {
  const [headerBase64 = "", payloadBase64 = ""] = idToken.split(".");
  const { iss, aud, sub, nonce } = decode(idToken);
  if (iss === undefined || typeof aud !== "string" || sub === undefined) {
    throw new ProverRefusedError("the token lacks an issuer, a subject or its one audience");
  }
  return {
    claims: { issuer: iss, audience: aud, subject: sub },
    nonce: typeof nonce === "string" ? nonce : null,
    headerBase64,
    issBase64Details: locateIssuer(payloadBase64, iss),
  };
}

function decode(idToken: string): jose.JWTPayload {
  try {
    return jose.decodeJwt(idToken);
  } catch {
    throw new ProverRefusedError("the token is not a JSON Web Token");
  }
}

/** Six bits a character: the claim's bytes begin and end inside characters, which then belong to the value as well. */
function locateIssuer(payloadBase64: string, issuer: string): TokenParts["issBase64Details"] {
  const payload = Buffer.from(payloadBase64, "base64url").toString("latin1");
  for (const { 0: claim, index } of payload.matchAll(/"iss"\s*:\s*"[^"\\]*"\s*[,}]/g)) {
    if (!claim.includes(`"${issuer}"`)) continue;
    const start = Math.floor((index * 4) / 3);
    const end = Math.ceil(((index + claim.length) * 4) / 3);
    return { value: payloadBase64.slice(start, end), indexMod4: start % 4 };
  }
  throw new ProverRefusedError("the token's issuer cannot be found in its payload");
}
