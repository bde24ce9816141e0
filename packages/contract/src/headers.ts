/** Header names of the service, in the case they are sent (decisions §1). */
export const HEADERS = {
  errorCode: "X-Error-Code",
  requestId: "X-Request-Id",
  idempotencyKey: "Idempotency-Key",
  idempotentReplay: "Idempotent-Replayed",
  apiVersion: "API-Version",
  fileId: "File-Id",
  keyId: "Coffer-Key-Id",
  /** With the current content of a shared vault's file: what `files.get` answers of it, JSON in base64; it names the version. */
  file: "Coffer-File",
  /** Nonce and signature of a shared vault's owner, for what destroys content of it. */
  ownerProof: "Coffer-Proof",
  devUserId: "X-Dev-User-Id",
  devIdpId: "X-Dev-Idp-Id",
  retryCount: "X-Retry-Count",
  client: "X-Client",
} as const;

export const MAX_IDEMPOTENCY_KEY = 255;
