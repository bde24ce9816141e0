/** Signing up, in and out, and the web sessions that result. */
import { callingOn } from "../http/call.ts";
import { configurationError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { paged, type PagePromise } from "../http/pages.ts";
import type { Secret } from "../http/secret.ts";
import { authCalls } from "./auth-calls.ts";
import { identityProviderCalls } from "./identity-provider-calls.ts";
import { sessionCalls } from "./session-calls.ts";
import type {
  AuthChangePasswordInput,
  AuthLoginInput,
  AuthResetPasswordInput,
  AuthSignupInput,
  IdentityProviderAuthorizeQuery,
  IdentityProviderCallbackInput,
  IdentityProviderZkloginAuthInput,
  IdentityProviderZkloginTokenInput,
  ZkloginAuthorizeFields,
  SessionListQuery,
} from "../connection/input-types.ts";
import type {
  AuthMessage,
  Authorization,
  Session,
  SessionTokens,
  SignedIn,
  ZkloginSession,
  ZkloginTokens,
} from "../connection/result-types.ts";

export interface AuthResource {
  /**
   * Makes an account and signs in.
   *
   * @example
   * ```ts
   * const signedIn = await client.auth.signup({ email: "me@example.com", password, accessCode });
   * const mine = createClient({ baseUrl, credentials: sessionCredentials(signedIn) });
   * ```
   */
  signup(input: AuthSignupInput, options?: CallOptions): Promise<SignedIn>;
  /** Signs in with e-mail address and password. */
  login(input: AuthLoginInput, options?: CallOptions): Promise<SignedIn>;
  /** For clients that keep their tokens themselves; `sessionCredentials` does it by itself. Send each token only once. */
  refresh(refreshToken: string | Secret, options?: CallOptions): Promise<SessionTokens>;
  /** Ends the session of a refresh token, or that of this client when none is given. */
  logout(refreshToken?: string | Secret, options?: CallOptions): Promise<void>;
  /** Ends every other session. */
  changePassword(input: AuthChangePasswordInput, options?: CallOptions): Promise<void>;
  /** Mails a link for a new password. The answer is the same whether or not there is such an account. */
  forgotPassword(email: string, options?: CallOptions): Promise<AuthMessage>;
  /** Sets a new password with a mailed token, and ends every session. The token works once. */
  resetPassword(input: AuthResetPasswordInput, options?: CallOptions): Promise<AuthMessage>;
  /** Confirms the e-mail address with a mailed token. The token works once. */
  verifyEmail(token: string, options?: CallOptions): Promise<AuthMessage>;
  /** Mails a new verification link if one is needed. The answer is the same either way. */
  resendVerification(email: string, options?: CallOptions): Promise<AuthMessage>;
  /** Checks whether an access code is still unused; the sign-up uses it up. */
  checkAccessCode(code: string, options?: CallOptions): Promise<boolean>;
}

export function authResource(connection: Connection): AuthResource {
  const calls = authCalls(callingOn(connection));
  return {
    ...calls,
    logout: async (given, options) => {
      const token = given ?? (await connection.session?.leave());
      if (token === undefined) throw configurationError("This client has no session: give a refresh token");
      return calls.logout(token, options);
    },
  };
}

export interface SessionResource {
  /** Lists open sessions, newest first; `current` marks the one of this call. */
  list(query?: SessionListQuery, options?: CallOptions): PagePromise<"sessions", Session>;
  /** Ends the session at once; a second call changes nothing. */
  end(sessionId: string, options?: CallOptions): Promise<void>;
}

export function sessionResource(connection: Connection): SessionResource {
  const calls = sessionCalls(callingOn(connection));
  return {
    list: (query = {}, options) => paged("sessions", query, (page) => calls.list(page, options)),
    end: calls.end,
  };
}

/** What binds a zkLogin sign-in to a key of the client. */
export interface IdentityProviderAuthorizeZkloginQuery extends ZkloginAuthorizeFields {
  /** zkLogin nonce: 27 characters of base64url. */
  readonly nonce: string;
}

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
  return identityProviderCalls(callingOn(connection));
}
