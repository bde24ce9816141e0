/** How the service answers while it cannot read its chain. */
import { ChainUnavailableError, ClockSkewError, OtherChainError } from "./ports/chain.ts";
import { ServiceError } from "./service-error.ts";

/**
 * The caller's error for a failed read: `clock_skew` with seconds and direction, or `chain_unavailable` with
 * `message`. A node's own words are logged and never sent. Everything else passes unchanged.
 */
export function unreadError(cause: unknown, message?: string): unknown {
  if (cause instanceof ClockSkewError) return new ServiceError("clock_skew", cause.message, { status: 503, cause });
  if (!(cause instanceof ChainUnavailableError)) return cause;
  return new ServiceError("chain_unavailable", cause instanceof OtherChainError ? cause.message : message, { cause });
}

/** Whether {@link unreadError} made it, or a chain that lacks what was asked for. */
export function isUnread(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === "chain_unavailable" || error.code === "clock_skew");
}
