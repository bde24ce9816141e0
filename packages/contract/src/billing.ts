/** Plans and payment (specification §1, §5.5; decisions §0, "Billing"). No card data ever touches the service. */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { bytes, endpoint } from "./endpoint.ts";
import { openEnum, timestamp } from "./values.ts";

export const PLANS = ["free", "pro"] as const;

const subscriptionSchema = object({
  /** `free` or `pro`. It sets the limits of the account. */
  plan: openEnum(PLANS),
  /** `active`, `ending` or `ended`. */
  status: openEnum(["active", "ending", "ended"]),
  /** When the subscription began: RFC 3339 in UTC. */
  since: timestamp,
});

/** A subscription with the payment provider. */
export interface Subscription extends Parsed<typeof subscriptionSchema> {}

const subscription: Named<Subscription> = subscriptionSchema;

/** The plan of the account and what pays for it. */
const billingSchema = object({
  /** `free` or `pro`. It sets the limits of the account. */
  plan: openEnum(PLANS),
  /** The subscription with the payment provider. null: nothing is paid for. */
  subscription: z.nullable(subscription),
});

/** The plan of an account, and what pays for it. */
export interface Billing extends Parsed<typeof billingSchema> {}

export const billing: Named<Billing> = billingSchema;

const ownerEndpoint = { auth: "credential", access: "owner", scope: "billing:write", vaultLimit: "refuse" } as const;
const plan = z.enum(PLANS);

export const billingGroup = {
  /** The account's plan and subscription. */
  get: endpoint({
    ...ownerEndpoint,
    id: "billing.get",
    method: "GET",
    path: "/api/billing",
    effect: "read",
    status: 200,
    output: object({
      /** The plan and what pays for it. */
      billing,
    }),
    errors: [],
  }),
  /** Begin to pay for a plan: the payment provider's address; needs a verified e-mail. */
  checkout: endpoint({
    ...ownerEndpoint,
    id: "billing.checkout",
    method: "POST",
    path: "/api/billing/checkout",
    effect: "create",
    body: strictObject({
      /** `free` or `pro`. */
      plan,
    }),
    status: 200,
    output: object({
      /** Address to open, as an absolute URL. */
      url: z.string(),
    }),
    errors: ["email_unverified", "plan_unchanged", "not_configured", "provider_unavailable"],
  }),
  /** Change the plan of a paying account; needs a verified e-mail. */
  changePlan: endpoint({
    ...ownerEndpoint,
    id: "billing.changePlan",
    method: "POST",
    path: "/api/billing/plan",
    effect: "update",
    body: strictObject({
      /** `free` or `pro`. */
      plan,
    }),
    status: 200,
    output: object({
      /** The plan and what pays for it. */
      billing,
    }),
    errors: ["email_unverified", "subscription_required", "usage_above_plan", "not_configured", "provider_unavailable"],
  }),
  /** For the payment provider: a signed event; the same event twice is taken once. */
  events: endpoint({
    id: "billing.events",
    method: "POST",
    path: "/api/billing/events",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "update",
    headers: object({
      /** Identifier of the payment provider's message. */
      "webhook-id": z.string().check(z.minLength(1), z.maxLength(256)),
      /** When the payment provider sent it, in seconds since 1970. */
      "webhook-timestamp": z.string().check(z.regex(/^\d{1,12}$/)),
      /** Signature of the payment provider over id, time and body. */
      "webhook-signature": z.string().check(z.minLength(1), z.maxLength(4096)),
    }),
    // Raw, because the signature is over the bytes as they were sent.
    body: bytes("application/json"),
    status: 204,
    errors: ["signature_invalid", "clock_skew", "body_too_large", "malformed_json", "not_configured"],
  }),
} as const;
