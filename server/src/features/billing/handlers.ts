import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const billingHandlers = (_deps: Deps): GroupHandlers<typeof api.billing> => ({
  get: () => Promise.reject(new ServiceError("not_configured")),
  checkout: () => Promise.reject(new ServiceError("not_configured")),
  changePlan: () => Promise.reject(new ServiceError("not_configured")),
  events: () => Promise.reject(new ServiceError("not_configured")),
});
