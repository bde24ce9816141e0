/** What an attempt makes of its delivery and of its endpoint (decisions §6). Pure; outcome.ts writes it down. */
import type { WebhookDeliveryRow, WebhookRow } from "../../../ports/tables.ts";
import type { WebhookOutcome } from "../../../ports/webhook-sender.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** From the attempt before to this one: the example of Standard Webhooks 1.0.0, "Deliverability and reliability". */
export const WAITS: readonly number[] = [
  ...[0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
];

/** Each wait is up to a fifth shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.2;

/** No delivery waits longer: what is due later than that was written before the clock was set back. */
export const LONGEST_WAIT = 24 * HOUR * (1 + JITTER);

/** A receiver may ask for more patience than the schedule has, up to this. */
const LONGEST_RETRY_AFTER = DAY;

/** An endpoint from which nothing but failures came for so long is turned off. */
export const DISABLED_AFTER = 5 * DAY;

/** RFC 9110 §15.5.11: gone, likely for good. Standard Webhooks: the receiver wants no more. */
const GONE = 410;

/** An attempt whose process ended, or lost the database, before it could say how it went. */
export const INTERRUPTED = "interrupted";

/** Milliseconds to wait before attempt `number`, counted from 1. `chance` is in [0, 1). */
export function waitBefore(number: number, chance: number): number {
  const wait = WAITS[Math.min(number, WAITS.length) - 1] ?? 0;
  return Math.round(wait * (1 - JITTER + 2 * JITTER * chance));
}

/** What an outcome changes in its delivery's row. */
export type DeliveryEnd = Pick<
  WebhookDeliveryRow,
  "status" | "http_status" | "last_error" | "next_attempt_at" | "completed_at"
>;

export interface Moment {
  readonly now: number;
  /** In [0, 1); asked for when something has to wait. */
  readonly chance: () => number;
}

/** A 2xx ends it, and so does the last attempt or a 410; otherwise the schedule says when it is tried again. */
export function endAttempt(
  { attempts, max_attempts: most }: Pick<WebhookDeliveryRow, "attempts" | "max_attempts">,
  { failure, httpStatus, retryAfter }: WebhookOutcome,
  { now, chance }: Moment,
): DeliveryEnd {
  const answer = { http_status: httpStatus, last_error: failure ?? "", next_attempt_at: null, completed_at: now };
  if (failure === null) return { ...answer, status: "success" };
  if (attempts >= most || httpStatus === GONE) return { ...answer, status: "failed" };
  const wait = Math.max(waitBefore(attempts + 1, chance()), Math.min(retryAfter ?? 0, LONGEST_RETRY_AFTER));
  return { ...answer, status: "pending", next_attempt_at: now + wait, completed_at: null };
}

/**
 * An unfinished attempt was counted when it was claimed, so that one which ends its process each time is not tried for
 * ever. The process died, not the receiver: the next attempt is due at once.
 */
export function endInterrupted(
  { attempts, max_attempts: most }: Pick<WebhookDeliveryRow, "attempts" | "max_attempts">,
  now: number,
): DeliveryEnd {
  const none = { http_status: 0, last_error: INTERRUPTED };
  return attempts >= most
    ? { ...none, status: "failed", next_attempt_at: null, completed_at: now }
    : { ...none, status: "pending", next_attempt_at: now, completed_at: null };
}

/** What an outcome changes in its endpoint's row. */
export type EndpointState = Pick<
  WebhookRow,
  "active" | "failure_count" | "failing_since" | "last_delivery_at" | "last_delivery_status"
>;

/** Why an endpoint is turned off: it asked for it, or nothing has come through for days. */
export type DisableReason = "gone" | "failing";

/** `end` is the state in which the attempt left its delivery. */
export function followAttempt(
  endpoint: EndpointState,
  end: DeliveryEnd,
  now: number,
): { readonly state: EndpointState; readonly disabled: DisableReason | null } {
  const state = recordAttempt(endpoint, end, now);
  if (end.status === "success") return { state: { ...state, failing_since: null }, disabled: null };
  // A clock that was set back must not keep a beginning that lies ahead: the endpoint would never be turned off.
  const since = Math.min(endpoint.failing_since ?? now, now);
  const failing = { ...state, failing_since: since };
  const reason = reasonToDisable(endpoint, end, since, now);
  return { state: reason === null ? failing : { ...failing, active: 0 }, disabled: reason };
}

/**
 * An attempt that decides nothing about the endpoint: a test, one to the address before this one, or an unfinished
 * one. It shows and counts as every attempt does.
 */
export function followBlameless(endpoint: EndpointState, end: DeliveryEnd, now: number): EndpointState {
  return recordAttempt(endpoint, end, now);
}

/** Attempts that failed one after the other, of any delivery; a success begins again (decisions §6, `failureCount`). */
export function countFailures(before: number, status: DeliveryEnd["status"]): number {
  return status === "success" ? 0 : before + 1;
}

function recordAttempt(endpoint: EndpointState, { status }: DeliveryEnd, now: number): EndpointState {
  const failures = countFailures(endpoint.failure_count, status);
  return { ...endpoint, failure_count: failures, last_delivery_status: status, last_delivery_at: now };
}

function reasonToDisable(endpoint: EndpointState, end: DeliveryEnd, since: number, now: number): DisableReason | null {
  if (endpoint.active === 0) return null;
  if (end.http_status === GONE) return "gone";
  return now - since >= DISABLED_AFTER ? "failing" : null;
}
