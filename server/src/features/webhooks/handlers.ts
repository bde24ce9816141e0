import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

export const webhooksHandlers = (_deps: Deps): GroupHandlers<typeof api.webhooks> => ({
  list: () => Promise.reject(new ServiceError("not_configured")),
  create: () => Promise.reject(new ServiceError("not_configured")),
  get: () => Promise.reject(new ServiceError("not_configured")),
  update: () => Promise.reject(new ServiceError("not_configured")),
  delete: () => Promise.reject(new ServiceError("not_configured")),
  test: () => Promise.reject(new ServiceError("not_configured")),
  rotateSecret: () => Promise.reject(new ServiceError("not_configured")),
  deliveries: () => Promise.reject(new ServiceError("not_configured")),
  delivery: () => Promise.reject(new ServiceError("not_configured")),
  redeliver: () => Promise.reject(new ServiceError("not_configured")),
  recover: () => Promise.reject(new ServiceError("not_configured")),
});
