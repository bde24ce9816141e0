/** Header names of the service, in the case they are sent (decisions §1). */
export const HEADERS = {
  errorCode: "X-Error-Code",
  requestId: "X-Request-Id",
  idempotencyKey: "Idempotency-Key",
  idempotentReplay: "Idempotent-Replayed",
  apiVersion: "API-Version",
  fileId: "File-Id",
  /** The file that a commit was refused for. */
  itemId: "Coffer-Item-Id",
  keyId: "Coffer-Key-Id",
  /** The budget that a request met: `storedBytes`, `bytesPerDay`, `filesPerDay` or `requestsPerMinute`. */
  budget: "X-Budget",
  /**
   * Comes with the current content of a shared vault's file: the answer of `files.get`, as JSON in base64. It names
   * the version.
   */
  file: "Coffer-File",
  /** Nonce and signature of a shared vault's owner, for acts that destroy its content. */
  ownerProof: "Coffer-Proof",
  devUserId: "X-Dev-User-Id",
  devIdpId: "X-Dev-Idp-Id",
  retryCount: "X-Retry-Count",
  client: "X-Client",
} as const;

export const MAX_IDEMPOTENCY_KEY = 255;
