import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

export const eventsHandlers = (_deps: Deps): GroupHandlers<typeof api.events> => ({
  stream: () => Promise.reject(new ServiceError("not_configured")),
});
