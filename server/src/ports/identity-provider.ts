/** The identity-provider port: an external OpenID Connect provider (specification §2 "idp", §5.5). */

export interface AuthorizationRequest {
  readonly state: string;
  /** null: the client adds its own. */
  readonly nonce: string | null;
  /** PKCE S256 (RFC 7636 §4.2) of the verifier that the exchange will bring. */
  readonly codeChallenge: string;
}

export interface CodeExchange {
  readonly code: string;
  readonly codeVerifier: string;
  /** The ID token must carry exactly this nonce (OpenID Connect Core §3.1.3.7). */
  readonly nonce: string;
}

/** The person who signed in, from a verified ID token. */
export interface Identity {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly nonce: string | null;
  /** The ID token itself. A secret: it is in no log and no row. */
  readonly idToken: string;
}

/**
 * Failure contract. `exchange` and `verify` reject with {@link IdentityRefusedError} when the provider or the token
 * says no. Examples are a used code, a wrong nonce, a bad signature and an expired token. Every member rejects with
 * {@link IdentityUnavailableError} when the provider cannot be reached. A code is good for one `exchange`.
 */
export interface IdentityProvider {
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  exchange(exchange: CodeExchange): Promise<Identity>;
  /** Verifies an ID token that a client brings back: signature, issuer, audience, expiry. */
  verify(idToken: string): Promise<Identity>;
}

export class IdentityRefusedError extends Error {
  override readonly name = "IdentityRefusedError";
}

export class IdentityUnavailableError extends Error {
  override readonly name = "IdentityUnavailableError";
}
