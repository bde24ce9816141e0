/** Sign-up, sign-in and the refresh of web sessions (specification §4.2, §5.4, §5.5; decisions §3). */
import * as z from "zod/mini";
import { object, strictObject } from "./object.ts";
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
export const sessionTokens = object({
  /** Send it as `Authorization: Bearer …`. It is a secret and lasts 15 minutes. */
  accessToken: z.string(),
  /** Secret that gets the next pair of tokens. Each works once; a second use ends the session. */
  refreshToken: z.string(),
  /** Seconds until the access token ends. */
  expiresIn: z.int(),
  /** Seconds until the refresh token ends: 30 days, less near the end of the session. */
  refreshExpiresIn: z.int(),
});

const signedIn = object({
  ...sessionTokens.shape,
  /** The account that signed in. */
  user: account,
});

const sentence = object({
  /** A sentence for the person. It is the same whether or not an account exists. */
  message: z.string(),
});

export interface SessionTokens extends z.infer<typeof sessionTokens> {}
export interface SignedIn extends z.infer<typeof signedIn> {}

const open = { auth: "none", access: "anyone", scope: null, vaultLimit: "none", method: "POST" } as const;

export const authGroup = {
  /** Create an account with an e-mail, a password and an access code, and sign in. */
  signup: endpoint({
    ...open,
    id: "auth.signup",
    path: "/api/auth/signup",
    effect: "create",
    /** `accessCode` may be left out where the operator switched access codes off. */
    body: strictObject({
      /** E-mail address, at most 254 characters. Letters are stored in lower case. */
      email,
      /** New password: 15 to 256 characters. */
      password: newPassword,
      /** Name for people to read: 1 to 200 characters. Default: none. */
      name: z.optional(label),
      /** Code that lets a new person sign up. Default: none, where the operator asks for none. */
      accessCode: z.optional(accessCode),
    }),
    status: 201,
    output: signedIn,
    errors: ["access_code_invalid", "weak_password", "email_exists"],
    secretResponse: true,
  }),
  /** Sign in with e-mail and password. */
  login: endpoint({
    ...open,
    id: "auth.login",
    path: "/api/auth/login",
    effect: "create",
    body: strictObject({
      /** E-mail address, at most 254 characters. Letters are stored in lower case. */
      email,
      /** Password of the account. */
      password: givenPassword,
    }),
    status: 200,
    output: signedIn,
    errors: ["wrong_credentials"],
    secretResponse: true,
  }),
  /** Exchange a refresh token for a new pair; a second use of one token ends the whole session. */
  refresh: endpoint({
    ...open,
    id: "auth.refresh",
    path: "/api/auth/refresh",
    effect: "create",
    body: strictObject({
      /** The newest refresh token of the session. */
      refreshToken: opaqueToken,
    }),
    status: 200,
    output: sessionTokens,
    errors: ["session_ended"],
    secretResponse: true,
  }),
  /** End the session of a refresh token at once; an unknown token is no error. */
  logout: endpoint({
    ...open,
    id: "auth.logout",
    path: "/api/auth/logout",
    effect: "delete",
    body: strictObject({
      /** The newest refresh token of the session. */
      refreshToken: opaqueToken,
    }),
    status: 204,
    errors: [],
  }),
  /** Set a new password and end every other session. */
  changePassword: endpoint({
    id: "auth.changePassword",
    method: "POST",
    path: "/api/auth/change-password",
    auth: "credential",
    access: "owner",
    scope: "account:write",
    vaultLimit: "refuse",
    effect: "update",
    body: strictObject({
      /** The password as it is now. */
      currentPassword: givenPassword,
      /** New password: 15 to 256 characters. */
      newPassword,
    }),
    status: 204,
    errors: ["wrong_password", "weak_password"],
  }),
  /** Mail a reset link if the account exists; the answer is the same either way. */
  forgotPassword: endpoint({
    ...open,
    id: "auth.forgotPassword",
    path: "/api/auth/forgot-password",
    effect: "update",
    /**
     * Any string: the answer is the same for a registered address, another address, and text that is no address
     * (specification §7).
     */
    body: strictObject({
      /** E-mail address, at most 254 characters. Letters are stored in lower case. */
      email: z.string(),
    }),
    status: 200,
    output: sentence,
    errors: [],
  }),
  /** Set a new password with a mailed token, which is used up, and end every session. */
  resetPassword: endpoint({
    ...open,
    id: "auth.resetPassword",
    path: "/api/auth/reset-password",
    effect: "create",
    body: strictObject({
      /** The token from the mailed link. It works once. */
      token: opaqueToken,
      /** New password: 15 to 256 characters. */
      newPassword,
    }),
    status: 200,
    output: sentence,
    errors: ["token_invalid", "weak_password"],
  }),
  /** Confirm the e-mail address with a mailed token, which is used up. */
  verifyEmail: endpoint({
    ...open,
    id: "auth.verifyEmail",
    path: "/api/auth/verify-email",
    effect: "create",
    body: strictObject({
      /** The token from the mailed link. It works once. */
      token: opaqueToken,
    }),
    status: 200,
    output: sentence,
    errors: ["token_invalid"],
  }),
  /** Mail a new verification link if there is something to verify; the answer is the same either way. */
  resendVerification: endpoint({
    ...open,
    id: "auth.resendVerification",
    path: "/api/auth/resend-verification",
    effect: "update",
    body: strictObject({
      /** E-mail address, at most 254 characters. Letters are stored in lower case. */
      email,
    }),
    status: 200,
    output: sentence,
    errors: [],
  }),
  /** Whether a sign-up access code can still be used; using it up is left to the sign-up. */
  checkAccessCode: endpoint({
    ...open,
    id: "auth.checkAccessCode",
    path: "/api/auth/check-access-code",
    effect: "read",
    body: strictObject({
      /** Access code to check. */
      code: accessCode,
    }),
    status: 200,
    output: object({
      /** Whether the access code would be accepted now. */
      valid: z.boolean(),
    }),
    errors: [],
  }),
} as const;
