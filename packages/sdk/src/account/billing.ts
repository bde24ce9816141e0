/** The account's plan. */
import { billingGroup, type api, type Billing } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, Result } from "../http/endpoint-types.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Input of `billing.checkout`. */
export interface BillingCheckoutInput extends Body<typeof api.billing.checkout> {}

/** Input of `billing.changePlan`. */
export interface BillingChangePlanInput extends Body<typeof api.billing.changePlan> {}

/** Where to pay for a plan. */
export interface CheckoutPage extends Result<typeof api.billing.checkout> {}

export interface BillingResource {
  /** Reads the account's plan and subscription. */
  get(options?: CallOptions): Promise<Billing>;
  /** Gets the page to pay for a plan; fails with `email_unverified` before the address is confirmed. */
  checkout(input: BillingCheckoutInput, options?: CallOptions): Promise<CheckoutPage>;
  /** Changes the plan of a paying account. Needs a verified e-mail address. */
  changePlan(input: BillingChangePlanInput, options?: CallOptions): Promise<Billing>;
}

export function billingResource(connection: Connection): BillingResource {
  const { get, checkout, changePlan } = billingGroup;
  return {
    get: async (options) => (await callOn(connection, get, {}, options)).billing,
    checkout: (body, options) => callOn(connection, checkout, { body }, options),
    changePlan: async (body, options) => (await callOn(connection, changePlan, { body }, options)).billing,
  };
}
