/** The buckets as data: how much, in which window, and which endpoint takes from which (decisions §2). */
import type { RateSettings } from "../config.ts";

/** Each has its quota in {@link RateSettings} and its window in {@link policiesOf}. */
export type Bucket = "mail" | "mailAddress" | "login" | "signup" | "idp" | "refresh" | "general" | "webhookTest";

/** `quota` requests in `window` seconds, at most `burst` of them at once. */
export interface Policy {
  readonly name: Bucket;
  readonly quota: number;
  readonly window: number;
  readonly burst: number;
}

const MINUTE = 60;
const HOUR = 3600;

/** A burst above the quota would lift it: the lower one counts. */
export function policiesOf(rates: RateSettings): Readonly<Record<Bucket, Policy>> {
  const policy = (name: Bucket, window: number, burst = rates[name]): Policy => ({
    name,
    quota: rates[name],
    window,
    burst: Math.min(burst, rates[name]),
  });
  return {
    mail: policy("mail", 15 * MINUTE),
    mailAddress: policy("mailAddress", HOUR),
    login: policy("login", MINUTE),
    signup: policy("signup", MINUTE),
    idp: policy("idp", MINUTE),
    refresh: policy("refresh", MINUTE),
    webhookTest: policy("webhookTest", MINUTE),
    general: policy("general", MINUTE, rates.generalBurst),
  };
}

/**
 * Endpoints that take from a bucket of the client's address before anything of their body is read. The others that ask
 * for no credential either cost no more than a look-up of 256 random bits, or are limited by their handler (refresh).
 */
export const ADDRESS_BUCKETS: Readonly<Record<string, Bucket>> = {
  "auth.forgotPassword": "mail",
  "auth.resendVerification": "mail",
  "auth.login": "login",
  "auth.signup": "signup",
  "auth.checkAccessCode": "signup",
  "invites.redeem": "signup",
  "identityProvider.authorize": "idp",
  "identityProvider.authorizeZklogin": "idp",
  "identityProvider.callback": "idp",
  "identityProvider.zkloginToken": "idp",
  "identityProvider.zkloginAuth": "idp",
};
