/** Signing up, in and out by e-mail address and password. */
import { authGroup, type api, type SessionTokens } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, Result } from "../http/endpoint-types.ts";
import { configurationError } from "../http/errors.ts";
import type { Secret } from "../http/secret.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Input of `auth.signup`. */
export interface AuthSignupInput extends Body<typeof api.auth.signup> {}

/** Input of `auth.login`. */
export interface AuthLoginInput extends Body<typeof api.auth.login> {}

/** Input of `auth.changePassword`. */
export interface AuthChangePasswordInput extends Body<typeof api.auth.changePassword> {}

/** Input of `auth.resetPassword`. */
export interface AuthResetPasswordInput extends Body<typeof api.auth.resetPassword> {}

/** The tokens of a new session, and its account. */
export interface SignedIn extends SessionTokens, Omit<Result<typeof api.auth.login>, keyof SessionTokens> {}

/** A sentence to show to the person. */
export interface AuthMessage extends Result<typeof api.auth.forgotPassword> {}

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
  const { signup, login, refresh, logout, changePassword, forgotPassword, resetPassword } = authGroup;
  const { verifyEmail, resendVerification, checkAccessCode } = authGroup;
  return {
    signup: (body, options) => callOn(connection, signup, { body }, options),
    login: (body, options) => callOn(connection, login, { body }, options),
    refresh: (token, options) => callOn(connection, refresh, { body: { refreshToken: textOf(token) } }, options),
    logout: async (refreshToken, options) => {
      const token = refreshToken ?? (await connection.session?.end());
      if (token === undefined) throw configurationError("This client has no session: give a refresh token");
      return callOn(connection, logout, { body: { refreshToken: textOf(token) } }, options);
    },
    changePassword: (body, options) => callOn(connection, changePassword, { body }, options),
    forgotPassword: (email, options) => callOn(connection, forgotPassword, { body: { email } }, options),
    resetPassword: (body, options) => callOn(connection, resetPassword, { body }, options),
    verifyEmail: (token, options) => callOn(connection, verifyEmail, { body: { token } }, options),
    resendVerification: (email, options) => callOn(connection, resendVerification, { body: { email } }, options),
    checkAccessCode: async (code, options) =>
      (await callOn(connection, checkAccessCode, { body: { code } }, options)).valid,
  };
}

function textOf(token: string | Secret): string {
  return typeof token === "string" ? token : token.reveal();
}
