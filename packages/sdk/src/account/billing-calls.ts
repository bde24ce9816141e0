/** The calls behind {@link BillingResource}. */
import { billingGroup } from "@coffer/contract";
import type { Calling } from "../http/call.ts";
import type { Body } from "../connection/call-fields.ts";
import type { CallOptions } from "../connection/options.ts";

type Billing = typeof billingGroup;

export function billingCalls(call: Calling) {
  const { get, checkout, changePlan } = billingGroup;
  return {
    get: async (options?: CallOptions) => (await call(get, {}, options)).billing,
    checkout: (body: Body<Billing["checkout"]>, options?: CallOptions) => call(checkout, { body }, options),
    changePlan: async (body: Body<Billing["changePlan"]>, options?: CallOptions) =>
      (await call(changePlan, { body }, options)).billing,
  };
}
