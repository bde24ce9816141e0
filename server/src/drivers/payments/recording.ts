import type { PaymentConfig } from "../../config.ts";
import type { PaymentProvider } from "../../ports/payment-provider.ts";

/** `appUrl`: where its checkout pages would live. */
export function openTestPayments(_config: PaymentConfig, _appUrl: string): PaymentProvider {
  return {
    checkout: () => Promise.reject(new Error("placeholder")),
    changePlan: () => Promise.reject(new Error("placeholder")),
    parseEvent: () => {
      throw new Error("placeholder");
    },
  };
}
