import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const auditHandlers = (_deps: Deps): GroupHandlers<typeof api.audit> => ({
  list: () => Promise.reject(new ServiceError("not_configured")),
});
