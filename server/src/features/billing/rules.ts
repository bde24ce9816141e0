/** What an account's plan and subscription are, and what an event of the payment provider makes of them. */
import { hash } from "node:crypto";
import type { Billing } from "@coffer/contract";
import type { PaymentEvent, Plan } from "../../ports/payment-provider.ts";
import type { SubscriptionRow } from "../../ports/tables.ts";
import { toTimestamp } from "../timestamps.ts";

export function toBilling(plan: string, subscription: SubscriptionRow | null): Billing {
  if (subscription === null) return { plan, subscription: null };
  const { status, since } = subscription;
  return { plan, subscription: { plan: subscription.plan, status, since: toTimestamp(since) } };
}

/** In the order of a subscription's life: of two events of one moment the later state counts. */
const STATUSES = ["active", "ending", "ended"] as const;
export type SubscriptionStatus = (typeof STATUSES)[number];

export function statusAfter(kind: PaymentEvent["kind"]): SubscriptionStatus {
  switch (kind) {
    case "subscription.active":
      return "active";
    case "subscription.ending":
      return "ending";
    case "subscription.ended":
      return "ended";
  }
}

export function statusesUpTo(status: SubscriptionStatus): readonly SubscriptionStatus[] {
  return STATUSES.slice(0, STATUSES.indexOf(status) + 1);
}

/** What was paid for is there until its end. */
export function planAfter({ kind, plan }: PaymentEvent): Plan {
  return kind === "subscription.ended" ? "free" : plan;
}

const HOUR = 3_600_000;

/**
 * The same id for every request that means the same checkout. Two clicks, two tabs, and a repeat after a lost answer
 * open one checkout with the provider. Another hour, or a subscription that has changed since, is another checkout.
 */
export function checkoutId(accountId: string, plan: Plan, subscription: SubscriptionRow | null, now: number): string {
  const meant = [accountId, plan, subscription?.event_at ?? null, Math.floor(now / HOUR)];
  const hex = hash("sha256", JSON.stringify(["coffer checkout v1", ...meant]), "hex");
  // RFC 9562 version 8: made by a rule of ours.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
