/** Every error becomes one of the catalogue here, and is rendered as exactly `{ error: string }` (specification §7). */
import { ERRORS, type ErrorCode, HEADERS } from "@coffer/contract";
import { BlobStoreAwayError, BlobStoreFaultError, BlobStoreFullError } from "../ports/blob-store.ts";
import { DatabaseFullError, DatabaseUnavailableError } from "../ports/database.ts";
import { ServiceError } from "../service-error.ts";

/** What goes to the caller. `unexpected` failures are defects or faults: their cause is logged, never sent. */
export interface Failure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly unexpected: boolean;
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** Never throws, and never lets the message of an unexpected error through. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof ServiceError) {
    // A missing set-up is not a fault of the server, and does not fill its log.
    const unexpected = error.status >= 500 && error.code !== "not_configured";
    const message = error.code === "internal" ? ERRORS.internal.message : error.message;
    return {
      status: error.status,
      code: error.code,
      message,
      headers: headersOf(error.code, error.headers),
      unexpected,
    };
  }
  const code = codeOf(error);
  const { status, message } = ERRORS[code];
  return { status, code, message, headers: headersOf(code, {}), unexpected: status >= 500 };
}

export function renderFailureBody(failure: Pick<Failure, "message">): string {
  return JSON.stringify({ error: failure.message });
}

/** A whole response for a socket that never got as far as a request object. */
export function renderRawFailure(code: ErrorCode, requestId: string, parts: { readonly body: boolean }): string {
  const failure = describeFailure(new ServiceError(code));
  const body = renderFailureBody(failure);
  const headers = {
    "Content-Type": JSON_TYPE,
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    [HEADERS.errorCode]: code,
    [HEADERS.requestId]: requestId,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${failure.status} ${code}\r\n${lines.join("")}\r\n${parts.body ? body : ""}`;
}

/** The catalogue code of a parser error of `node:http`. */
export function codeOfClientError(error: { readonly code?: string }): ErrorCode {
  if (error.code === "HPE_HEADER_OVERFLOW") return "headers_too_large";
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return "request_timeout";
  if (error.code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "body_too_large";
  return "malformed_request";
}

/** Errors of Fastify that are the caller's. Others of its codes are defects of ours. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_BODY_TOO_LARGE: "body_too_large",
  FST_ERR_BAD_URL: "malformed_request",
  FST_ERR_MAX_PARAM_LENGTH: "not_found",
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: "malformed_request",
};

/**
 * What the system refuses wherever a file is opened, read or written (open(2), read(2), write(2)): too many open files, no memory, a disk that
 * is full, cannot be read, or takes no writes. The same words for all of it: the log has the cause.
 */
const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  EMFILE: "unavailable",
  ENFILE: "unavailable",
  ENOMEM: "unavailable",
  EIO: "unavailable",
  EROFS: "unavailable",
  ENODEV: "unavailable",
  ENXIO: "unavailable",
  ESTALE: "unavailable",
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
};

function codeOf(error: unknown): ErrorCode {
  if (error instanceof DatabaseFullError || error instanceof BlobStoreFullError) return "disk_full";
  if (UNAVAILABLE.some((kind) => error instanceof kind)) return "unavailable";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return SYSTEM_CODES[code] ?? FASTIFY_CODES[code] ?? "internal";
}

const UNAVAILABLE = [DatabaseUnavailableError, BlobStoreAwayError, BlobStoreFaultError];

const RETRY_AFTER: Partial<Record<ErrorCode, string>> = {
  idempotency_in_progress: "1",
  unavailable: "1",
  disk_full: "60",
  upload_locked: "1",
  tree_busy: "1",
};

/**
 * Every 401 names a scheme (RFC 9110 §15.5.2). It gives the reason only for a credential in the Authorization header
 * (RFC 6750 §3.1). A wrong password or a used refresh token came in the body.
 */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  invalid_credential: 'Bearer error="invalid_token"',
  wrong_credentials: "Bearer",
  session_ended: "Bearer",
};

function headersOf(code: ErrorCode, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const challenge = CHALLENGES[code];
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  const retryAfter = RETRY_AFTER[code];
  if (retryAfter !== undefined) headers["Retry-After"] = retryAfter;
  return Object.assign(headers, given);
}
