import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const invitesHandlers = (_deps: Deps): GroupHandlers<typeof api.invites> => ({
  create: () => Promise.reject(new ServiceError("not_configured")),
  list: () => Promise.reject(new ServiceError("not_configured")),
  revoke: () => Promise.reject(new ServiceError("not_configured")),
  redeem: () => Promise.reject(new ServiceError("not_configured")),
});
