import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

export const webhookEventsHandlers = (_deps: Deps): GroupHandlers<typeof api.webhookEvents> => ({
  list: () => Promise.reject(new ServiceError("not_configured")),
});
