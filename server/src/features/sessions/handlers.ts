import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const sessionsHandlers = (_deps: Deps): GroupHandlers<typeof api.sessions> => ({
  list: () => Promise.reject(new ServiceError("not_configured")),
  end: () => Promise.reject(new ServiceError("not_configured")),
});
