/** The buckets as data: how much, in which window, and which endpoint takes from which (decisions §2). */
import type { EndpointDefinition } from "@coffer/contract";
import type { RateSettings } from "../config.ts";

/** Each has its quota in {@link RateSettings} and its window in {@link policiesOf}. */
export type Bucket =
  | "mail"
  | "mailAddress"
  | "login"
  | "signup"
  | "idp"
  | "anonymous"
  | "refresh"
  | "general"
  | "webhookTest";

/** `quota` requests in `window` seconds, at most `burst` of them at once. */
export interface Policy {
  readonly name: Bucket;
  readonly quota: number;
  readonly window: number;
  readonly burst: number;
}

/** What all processes count together: also what no bucket is. */
export type SharedPolicy = Omit<Policy, "name"> & { readonly name: string };

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
    anonymous: policy("anonymous", MINUTE),
    refresh: policy("refresh", MINUTE),
    webhookTest: policy("webhookTest", MINUTE),
    general: policy("general", MINUTE, rates.generalBurst),
  };
}

/** Endpoints whose bucket of the client's address is one that decisions §2 names. */
const ADDRESS_BUCKETS: Readonly<Record<string, Bucket>> = {
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

/**
 * The bucket of the client's address that an endpoint takes from before it reads its body. Every endpoint under
 * /api/auth that reads a body without a credential has one.
 */
export function addressBucketOf({ id, auth, path }: EndpointDefinition): Bucket | undefined {
  return ADDRESS_BUCKETS[id] ?? (auth === "none" && path.startsWith("/api/auth/") ? "anonymous" : undefined);
}
