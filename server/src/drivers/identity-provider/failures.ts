/** What goes wrong between the provider and here, as the port says it: never with a code, a token, a nonce or a secret. */
import * as jose from "jose";
import * as openid from "openid-client";
import { IdentityRefusedError, IdentityUnavailableError } from "../../ports/identity-provider.ts";

/** OAuth errors (RFC 6749 §5.2) that say something about this code, and not about the provider or the registration. */
const ABOUT_THE_CODE: ReadonlySet<string> = new Set(["invalid_grant", "access_denied", "invalid_request"]);

/** Codes of openid-client for tokens that are not what was asked for. */
const ABOUT_THE_TOKEN: ReadonlySet<string> = new Set([
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_UNSUPPORTED_OPERATION",
]);

/** Failures of the key set's retrieval; every other error of jose is about the token. */
const ABOUT_THE_KEYS = [jose.errors.JWKSTimeout, jose.errors.JWKSInvalid] as const;

/**
 * The port's error for anything that openid-client or jose throw. The original is not kept as a cause: those of both
 * libraries carry response bodies and claims.
 */
export function toIdentityError(error: unknown): Error {
  if (error instanceof IdentityRefusedError || error instanceof IdentityUnavailableError) return error;
  if (error instanceof openid.ResponseBodyError) return fromOauthError(error.error, error.status);
  if (error instanceof openid.ClientError) return fromClientCode(error.code ?? "");
  if (error instanceof jose.errors.JOSEError) return fromJose(error);
  if (error instanceof openid.WWWAuthenticateChallengeError) {
    return new IdentityUnavailableError("the identity provider does not accept this service's client credentials");
  }
  return new IdentityUnavailableError("the identity provider cannot be reached");
}

function fromOauthError(code: string, status: number): Error {
  const named = /^[a-z_]{1,40}$/.test(code) ? code : "an error";
  if (status < 500 && ABOUT_THE_CODE.has(code)) {
    return new IdentityRefusedError(`the identity provider answered ${named}`);
  }
  return new IdentityUnavailableError(`the identity provider answered ${named}`);
}

function fromClientCode(code: string): Error {
  if (ABOUT_THE_TOKEN.has(code)) return new IdentityRefusedError(`the identity provider's answer fails: ${code}`);
  return new IdentityUnavailableError(`the identity provider does not answer as it should: ${code}`);
}

function fromJose(error: jose.errors.JOSEError): Error {
  const isAboutKeys = ABOUT_THE_KEYS.some((kind) => error instanceof kind) || error.code === "ERR_JOSE_GENERIC";
  if (isAboutKeys) return new IdentityUnavailableError(`the identity provider's keys cannot be read: ${error.code}`);
  return new IdentityRefusedError(`the ID token fails: ${error.code}`);
}
