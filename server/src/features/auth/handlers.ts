import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../http/errors.ts";
import type { GroupHandlers } from "../../http/handlers.ts";

/** PLACEHOLDER */
export const authHandlers = (_deps: Deps): GroupHandlers<typeof api.auth> => ({
  signup: () => Promise.reject(new ServiceError("not_configured")),
  login: () => Promise.reject(new ServiceError("not_configured")),
  refresh: () => Promise.reject(new ServiceError("not_configured")),
  logout: () => Promise.reject(new ServiceError("not_configured")),
  changePassword: () => Promise.reject(new ServiceError("not_configured")),
  forgotPassword: () => Promise.reject(new ServiceError("not_configured")),
  resetPassword: () => Promise.reject(new ServiceError("not_configured")),
  verifyEmail: () => Promise.reject(new ServiceError("not_configured")),
  resendVerification: () => Promise.reject(new ServiceError("not_configured")),
  checkAccessCode: () => Promise.reject(new ServiceError("not_configured")),
});
