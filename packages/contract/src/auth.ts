/** Sign-up, sign-in and the refresh of web sessions (specification §4.2, §5.4, §5.5; decisions §3). */
import * as z from "zod/mini";
import { account } from "./account.ts";
import { endpoint } from "./endpoint.ts";
import { email, label } from "./values.ts";

/** Seconds an access token is valid (specification §2.7). */
export const ACCESS_TOKEN_SECONDS = 900;

/** Days a refresh token is valid (specification §2.7). */
export const REFRESH_TOKEN_DAYS = 30;

/** NIST SP 800-63B-4 §3.1.1.2: at least 15 characters for a single factor, and long ones are welcome. */
export const PASSWORD_LENGTH = { minimum: 15, maximum: 256 } as const;

/** Counted in code points of the NFKC form; a password is never cut or trimmed (NIST SP 800-63B-4 §3.1.1.2). */
const newPassword = z.string().check(
  z.maxLength(1024),
  z.check((context) => {
    const { length } = Array.from(context.value.normalize("NFKC"));
    const { minimum, maximum } = PASSWORD_LENGTH;
    if (length >= minimum && length <= maximum) return;
    const message = `expected ${minimum} to ${maximum} characters`;
    context.issues.push({ code: "custom", message, input: "", continue: false });
  }),
);

/** A password that is only compared: one that is too long is simply wrong. */
const givenPassword = z.string().check(z.minLength(1), z.maxLength(1024));

/** A token that was mailed, or an opaque refresh token: 256 bits in base64url, with room to grow. */
const opaqueToken = z.string().check(z.minLength(1), z.maxLength(512));

export const accessCode = z.string().check(z.minLength(1), z.maxLength(128));

/** Days until a session ends, however often it is refreshed (decisions §3). */
export const SESSION_DAYS = 90;

/**
 * The pair of tokens of a session. `expiresIn` is the access token's life in seconds, `refreshExpiresIn` the refresh token's: less
 * than 30 days near the end of the session.
 */
export const sessionTokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresIn: z.int(),
  refreshExpiresIn: z.int(),
});

const signedIn = z.object({ ...sessionTokens.shape, user: account });

const said = z.object({ message: z.string() });

export interface SessionTokens extends z.infer<typeof sessionTokens> {}
export interface SignedIn extends z.infer<typeof signedIn> {}

const open = { auth: "none", access: "anyone", scope: null, vaultLimit: "none", method: "POST" } as const;

export const authGroup = {
  signup: endpoint({
    ...open,
    id: "auth.signup",
    path: "/api/auth/signup",
    effect: "create",
    /** `accessCode` may be left out where the operator switched access codes off. */
    body: z.strictObject({ email, password: newPassword, name: z.optional(label), accessCode: z.optional(accessCode) }),
    status: 201,
    output: signedIn,
    errors: ["access_code_invalid", "weak_password", "email_exists"],
    secretResponse: true,
  }),
  login: endpoint({
    ...open,
    id: "auth.login",
    path: "/api/auth/login",
    effect: "create",
    body: z.strictObject({ email, password: givenPassword }),
    status: 200,
    output: signedIn,
    errors: ["wrong_credentials"],
    secretResponse: true,
  }),
  refresh: endpoint({
    ...open,
    id: "auth.refresh",
    path: "/api/auth/refresh",
    effect: "create",
    body: z.strictObject({ refreshToken: opaqueToken }),
    status: 200,
    output: sessionTokens,
    errors: ["session_ended"],
    secretResponse: true,
  }),
  logout: endpoint({
    ...open,
    id: "auth.logout",
    path: "/api/auth/logout",
    effect: "delete",
    body: z.strictObject({ refreshToken: opaqueToken }),
    status: 204,
    errors: [],
  }),
  changePassword: endpoint({
    id: "auth.changePassword",
    method: "POST",
    path: "/api/auth/change-password",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "update",
    body: z.strictObject({ currentPassword: givenPassword, newPassword }),
    status: 204,
    errors: ["wrong_password", "weak_password"],
  }),
  forgotPassword: endpoint({
    ...open,
    id: "auth.forgotPassword",
    path: "/api/auth/forgot-password",
    effect: "update",
    /**
     * Any string: the answer is the same for a registered address, another address, and text that is no address
     * (specification §7).
     */
    body: z.strictObject({ email: z.string() }),
    status: 200,
    output: said,
    errors: [],
  }),
  resetPassword: endpoint({
    ...open,
    id: "auth.resetPassword",
    path: "/api/auth/reset-password",
    effect: "create",
    body: z.strictObject({ token: opaqueToken, newPassword }),
    status: 200,
    output: said,
    errors: ["token_invalid", "weak_password"],
  }),
  verifyEmail: endpoint({
    ...open,
    id: "auth.verifyEmail",
    path: "/api/auth/verify-email",
    effect: "create",
    body: z.strictObject({ token: opaqueToken }),
    status: 200,
    output: said,
    errors: ["token_invalid"],
  }),
  resendVerification: endpoint({
    ...open,
    id: "auth.resendVerification",
    path: "/api/auth/resend-verification",
    effect: "update",
    body: z.strictObject({ email }),
    status: 200,
    output: said,
    errors: [],
  }),
  checkAccessCode: endpoint({
    ...open,
    id: "auth.checkAccessCode",
    path: "/api/auth/check-access-code",
    effect: "read",
    body: z.strictObject({ code: accessCode }),
    status: 200,
    output: z.object({ valid: z.boolean() }),
    errors: [],
  }),
} as const;
