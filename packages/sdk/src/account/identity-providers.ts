/** Signing in with an identity provider, and with zkLogin. */
import { identityProviderGroup, type api, type SessionTokens } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, Query, Result } from "../http/endpoint-types.ts";
import { ContractError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Input of `identityProvider.authorize`. */
export interface IdentityProviderAuthorizeQuery extends Query<typeof api.identityProvider.authorize> {}

/** Input of `identityProvider.authorizeZklogin`. */
export interface ZkloginAuthorizeFields extends Omit<Query<typeof api.identityProvider.authorizeZklogin>, "nonce"> {}

/** What binds a zkLogin sign-in to a key of the client. */
export interface IdentityProviderAuthorizeZkloginQuery extends ZkloginAuthorizeFields {
  /** zkLogin nonce: 27 characters of base64url. */
  readonly nonce: string;
}

/** Input of `identityProvider.callback`. */
export interface IdentityProviderCallbackInput extends Body<typeof api.identityProvider.callback> {}

/** Input of `identityProvider.zkloginToken`. */
export interface IdentityProviderZkloginTokenInput extends Body<typeof api.identityProvider.zkloginToken> {}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByCode extends Extract<
  Body<typeof api.identityProvider.zkloginAuth>,
  { readonly code: string }
> {}

/** Input of `identityProvider.zkloginAuth`. */
export interface IdentityProviderZkloginAuthInputByIdToken extends Extract<
  Body<typeof api.identityProvider.zkloginAuth>,
  { readonly idToken: string }
> {}

/** Input of `identityProvider.zkloginAuth`. */
export type IdentityProviderZkloginAuthInput =
  | IdentityProviderZkloginAuthInputByCode
  | IdentityProviderZkloginAuthInputByIdToken;

/** Where to send the browser for a sign-in. */
export interface Authorization extends Result<typeof api.identityProvider.authorize> {}

/** The first step's result of a zkLogin sign-in. */
export interface ZkloginTokens extends Result<typeof api.identityProvider.zkloginToken> {}

/** A session that began with zkLogin. */
export interface ZkloginSession
  extends SessionTokens, Omit<Result<typeof api.identityProvider.zkloginAuth>, keyof SessionTokens> {}

export interface IdentityProviderResource {
  /** Gets the address to send the browser to. People without an account also need an access code. */
  authorize(query?: IdentityProviderAuthorizeQuery, options?: CallOptions): Promise<Authorization>;
  /**
   * Like `authorize`, for zkLogin. `nonce`: made of the client's own ephemeral key. Refuses an address that carries another one, a second one, or a
   * request object.
   */
  authorizeZklogin(query: IdentityProviderAuthorizeZkloginQuery, options?: CallOptions): Promise<Authorization>;
  /** Finishes a sign-in: finds or creates the account and opens a session. */
  callback(input: IdentityProviderCallbackInput, options?: CallOptions): Promise<SessionTokens>;
  /** First step of zkLogin: exchanges the code for identity token, salt and chain address. */
  zkloginToken(input: IdentityProviderZkloginTokenInput, options?: CallOptions): Promise<ZkloginTokens>;
  /** Opens a session with zkLogin: in one call with `code`, or as the second step with `idToken`. */
  zkloginAuth(input: IdentityProviderZkloginAuthInput, options?: CallOptions): Promise<ZkloginSession>;
}

export function identityProviderResource(connection: Connection): IdentityProviderResource {
  const { authorize, authorizeZklogin, callback, zkloginToken, zkloginAuth } = identityProviderGroup;
  return {
    authorize: (query = {}, options) => callOn(connection, authorize, { query }, options),
    authorizeZklogin: async (query, options) => {
      const authorization = await callOn(connection, authorizeZklogin, { query }, options);
      // The nonce binds the identity token to this client's key: with another one it would be somebody else's.
      if (!carriesOnly(authorization.url, query.nonce))
        throw new ContractError("response", authorizeZklogin.id, ["body.url: does not carry the nonce, and it alone"]);
      return authorization;
    },
    callback: (body, options) => callOn(connection, callback, { body }, options),
    zkloginToken: (body, options) => callOn(connection, zkloginToken, { body }, options),
    zkloginAuth: (body, options) => callOn(connection, zkloginAuth, { body }, options),
  };
}

/**
 * The provider chooses between two parameters of one name (RFC 6749 §3.1 allows one). A request object replaces the
 * query (OpenID Connect Core §6).
 */
function carriesOnly(url: string, nonce: string): boolean {
  const parameters = URL.parse(url)?.searchParams;
  if (parameters === undefined || parameters.has("request") || parameters.has("request_uri")) return false;
  const nonces = parameters.getAll("nonce");
  return nonces.length === 1 && nonces[0] === nonce;
}
