import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const identityProviderHandlers = (_deps: Deps): GroupHandlers<typeof api.identityProvider> => ({
  authorize: () => Promise.reject(new ServiceError("not_configured")),
  authorizeZklogin: () => Promise.reject(new ServiceError("not_configured")),
  callback: () => Promise.reject(new ServiceError("not_configured")),
  zkloginToken: () => Promise.reject(new ServiceError("not_configured")),
  zkloginAuth: () => Promise.reject(new ServiceError("not_configured")),
});
