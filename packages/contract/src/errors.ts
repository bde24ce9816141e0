/**
 * The error catalogue: the one place that gives a code its status, whether a repeat can help, and what to do about it.
 * On the wire the body is exactly `{ error: string }` (specification §7); the code travels in `X-Error-Code`.
 */
import { ERROR_FACTS, type ErrorCode } from "./error-codes.ts";
import { ERROR_TEXTS } from "./error-texts.ts";

export interface ErrorEntry {
  readonly status: number;
  /** The same request may succeed later without any change. */
  readonly retryable: boolean;
  /** Used when the thrower has no more exact text. */
  readonly message: string;
  /** What the caller does next, one sentence. */
  readonly nextStep: string;
}

export const ERRORS = Object.fromEntries(
  Object.entries(ERROR_FACTS).map(([code, [status, retryable]]) => {
    const [message, nextStep] = ERROR_TEXTS[code as ErrorCode];
    return [code, { status, retryable, message, nextStep }];
  }),
) as { readonly [Code in ErrorCode]: ErrorEntry & { readonly status: (typeof ERROR_FACTS)[Code][0] } };
