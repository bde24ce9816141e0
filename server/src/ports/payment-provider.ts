/** The payment-provider port (decisions §0, "Billing"): it takes the money, the service learns of it by signed events. */
import type { PLANS } from "@coffer/contract";

export type Plan = (typeof PLANS)[number];

export interface CheckoutRequest {
  /** Repeating it with the same id opens no second checkout. */
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly plan: Plan;
}

/** What the provider says has happened. */
export interface PaymentEvent {
  readonly id: string;
  readonly kind: "subscription.active" | "subscription.ending" | "subscription.ended";
  readonly accountId: string;
  readonly plan: Plan;
  /** The provider's name for the subscription. */
  readonly reference: string;
  /** Milliseconds since the Unix epoch: an older event never undoes a newer one. */
  readonly occurredAt: number;
}

export interface SignedEvent {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

/**
 * Failure contract. `checkout` and `changePlan` reject with {@link PaymentUnavailableError} when the provider does not
 * answer. Nobody can say then what it did, so the request may be repeated with the same id. `parseEvent` throws
 * {@link PaymentEventError} for anything that the provider did not sign, and for a signed event whose body is not one.
 */
export interface PaymentProvider {
  checkout(request: CheckoutRequest): Promise<{ readonly url: string }>;
  /** Leaving for the free plan lets the paid time run out: the subscription ends later, which an event says. */
  changePlan(reference: string, plan: Plan): Promise<void>;
  /**
   * `now`: milliseconds since the Unix epoch; an event signed more than 5 minutes from it is refused.
   * null: the provider did sign it, and it is about something else than subscriptions.
   */
  parseEvent(event: SignedEvent, now: number): PaymentEvent | null;
}

export class PaymentUnavailableError extends Error {
  override readonly name = "PaymentUnavailableError";
}

export class PaymentEventError extends Error {
  override readonly name = "PaymentEventError";
  readonly reason: "signature" | "clock" | "body";
  constructor(reason: "signature" | "clock" | "body") {
    super(`not an event of the payment provider: ${reason}`);
    this.reason = reason;
  }
}
