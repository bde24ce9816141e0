/** Header names of the service, in the case they are sent (decisions §1). */
export const HEADERS = {
  errorCode: "X-Error-Code",
  requestId: "X-Request-Id",
  idempotencyKey: "Idempotency-Key",
  idempotentReplay: "Idempotent-Replayed",
  apiVersion: "API-Version",
  fileId: "File-Id",
  keyId: "Coffer-Key-Id",
  devUserId: "X-Dev-User-Id",
  devIdpId: "X-Dev-Idp-Id",
  retryCount: "X-Retry-Count",
  client: "X-Client",
} as const;

export const MAX_IDEMPOTENCY_KEY = 255;
