/** The error a handler throws to answer with an error of the catalogue. */
import { ERRORS, type ErrorCode } from "@coffer/contract";

/**
 * `message` reaches the caller as `{ error }` and must name no secret and nothing of another account; `cause` is logged
 * (redacted) and never sent. `status`: where the catalogue has two for the code, the one that is not the usual.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: ErrorCode,
    message?: string,
    more: { headers?: Readonly<Record<string, string>>; cause?: unknown; status?: number } = {},
  ) {
    super(message ?? ERRORS[code].message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = more.status ?? ERRORS[code].status;
    this.headers = more.headers ?? {};
  }
}
