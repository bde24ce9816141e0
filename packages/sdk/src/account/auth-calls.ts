/** The calls behind {@link AuthResource}. */
import { authGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Secret } from "../http/secret.ts";
import type { Body } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Auth = typeof authGroup;

export function authCalls(call: Calling) {
  const { signup, login, refresh, logout, changePassword, forgotPassword, resetPassword, verifyEmail } = authGroup;
  return {
    signup: (body: Body<Auth["signup"]>, options?: CallOptions) => call(signup, { body }, options),
    login: (body: Body<Auth["login"]>, options?: CallOptions) => call(login, { body }, options),
    refresh: (token: string | Secret, options?: CallOptions) =>
      call(refresh, { body: { refreshToken: textOf(token) } }, options),
    logout: (token: string | Secret, options?: CallOptions) =>
      call(logout, { body: { refreshToken: textOf(token) } }, options),
    changePassword: (body: Body<Auth["changePassword"]>, options?: CallOptions) =>
      call(changePassword, { body }, options),
    forgotPassword: (email: string, options?: CallOptions) => call(forgotPassword, { body: { email } }, options),
    resetPassword: (body: Body<Auth["resetPassword"]>, options?: CallOptions) => call(resetPassword, { body }, options),
    verifyEmail: (token: string, options?: CallOptions) => call(verifyEmail, { body: { token } }, options),
    resendVerification: (email: string, options?: CallOptions) =>
      call(authGroup.resendVerification, { body: { email } }, options),
    checkAccessCode: async (code: string, options?: CallOptions) =>
      (await call(authGroup.checkAccessCode, { body: { code } }, options)).valid,
  };
}

function textOf(token: string | Secret): string {
  return typeof token === "string" ? token : token.reveal();
}
