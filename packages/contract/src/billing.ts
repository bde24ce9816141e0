/** Plans and payment (specification §1, §5.5; decisions §0, "Billing"). No card data ever touches the service. */
import * as z from "zod/mini";
import { bytes, endpoint } from "./endpoint.ts";
import { openEnum, timestamp } from "./values.ts";

export const PLANS = ["free", "pro"] as const;

/** The plan of the account and what pays for it. */
export const billing = z.object({
  plan: openEnum(PLANS),
  /** A subscription with the payment provider; null when nothing is paid for. */
  subscription: z.nullable(
    z.object({ plan: openEnum(PLANS), status: openEnum(["active", "ending", "ended"]), since: timestamp }),
  ),
});

export interface Billing extends z.infer<typeof billing> {}

const owned = { auth: "credential", access: "owner", scope: "billing:write", vaultLimit: "refuse" } as const;
const plan = z.enum(PLANS);

export const billingGroup = {
  get: endpoint({
    ...owned,
    id: "billing.get",
    method: "GET",
    path: "/api/billing",
    effect: "read",
    status: 200,
    output: z.object({ billing }),
    errors: [],
  }),
  checkout: endpoint({
    ...owned,
    id: "billing.checkout",
    method: "POST",
    path: "/api/billing/checkout",
    effect: "create",
    body: z.strictObject({ plan }),
    status: 200,
    output: z.object({ url: z.string() }),
    errors: ["email_unverified", "plan_unchanged", "not_configured", "provider_unavailable"],
  }),
  changePlan: endpoint({
    ...owned,
    id: "billing.changePlan",
    method: "POST",
    path: "/api/billing/plan",
    effect: "update",
    body: z.strictObject({ plan }),
    status: 200,
    output: z.object({ billing }),
    errors: ["email_unverified", "subscription_required", "usage_above_plan", "not_configured", "provider_unavailable"],
  }),
  events: endpoint({
    id: "billing.events",
    method: "POST",
    path: "/api/billing/events",
    auth: "none",
    access: "anyone",
    scope: null,
    vaultLimit: "none",
    effect: "update",
    headers: z.object({
      "webhook-id": z.string().check(z.minLength(1), z.maxLength(256)),
      "webhook-timestamp": z.string().check(z.regex(/^\d{1,12}$/)),
      "webhook-signature": z.string().check(z.minLength(1), z.maxLength(4096)),
    }),
    // Raw, because the signature is over the bytes as they were sent.
    body: bytes("application/json"),
    status: 204,
    errors: ["signature_invalid", "clock_skew", "body_too_large", "malformed_json", "not_configured"],
  }),
} as const;
