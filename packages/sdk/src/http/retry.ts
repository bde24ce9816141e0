import type { Clock } from "./clock.ts";
import { isAnswered, SdkError, TimeoutError } from "./errors.ts";
import { pause } from "./time-limit.ts";

export interface RetryPolicy {
  /** Repeats after the first attempt. Default: 4. */
  readonly limit: number;
  /** The first wait lies between 0 and this; it doubles with every attempt up to `maxDelayMs` (full jitter). Default: 250. */
  readonly baseDelayMs: number;
  /** Longest wait of its own, in milliseconds. Default: 8,000. */
  readonly maxDelayMs: number;
  /** Longest wait that a `Retry-After` can impose, in milliseconds. Default: 60,000. */
  readonly maxRetryAfterMs: number;
  /** Repeats that the client may make in a row of failures over all calls; every success gives `budgetRefund` back. Default: 20. */
  readonly budget: number;
  /** Default: 0.2. */
  readonly budgetRefund: number;
}

export const DEFAULT_RETRY: RetryPolicy = {
  limit: 4,
  baseDelayMs: 250,
  maxDelayMs: 8_000,
  maxRetryAfterMs: 60_000,
  budget: 20,
  budgetRefund: 0.2,
};

/** A token bucket over all calls of a client: when a service is down, callers do not multiply its load. */
export class RetryBudget {
  readonly #capacity: number;
  readonly #refund: number;
  #tokens: number;

  constructor(policy: Pick<RetryPolicy, "budget" | "budgetRefund">) {
    this.#capacity = policy.budget;
    this.#refund = policy.budgetRefund;
    this.#tokens = policy.budget;
  }

  /** Takes one repeat out; false when there is none left. */
  acquire(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  succeeded(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + this.#refund);
  }
}

/**
 * How often a change of a shared vault is signed again, because the vault, the names of its folder or the item changed
 * meanwhile: uploads, renames, moves and new folders alike.
 */
export const CHANGE_ATTEMPTS = 5;

/** What repeats need of a connection. */
interface RepeatParts {
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly budget: RetryBudget;
}

interface RepeatOptions {
  /** Default: that of the policy. */
  readonly retries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** By the connection's clock, in milliseconds. Default: none. */
  readonly deadline?: number | undefined;
}

/** The repeats of one piece of work, such as a call, a part of an upload, or the rest of a download. */
export class Repeats {
  readonly #parts: RepeatParts;
  readonly #options: RepeatOptions;
  #failures = 0;

  constructor(parts: RepeatParts, options: RepeatOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Waits before the next attempt. Throws the failure when none may follow. */
  async backOff(error: unknown, canHelp = isWorthRepeating(error)): Promise<void> {
    const { budget, clock, retry } = this.#parts;
    const { deadline = Infinity, retries = retry.limit, signal } = this.#options;
    this.#failures += 1;
    if (this.#failures > retries || !canHelp) throw error;
    const delay = retryDelay(retry, this.#failures, error, () => clock.random());
    if (clock.now() + delay >= deadline || !budget.acquire()) throw error;
    await pause(clock, delay, signal);
  }

  /** Bytes have moved, and are not moved again: the next failure is the first one. */
  reset(): void {
    this.#failures = 0;
  }
}

/**
 * Whether a repeat can help soon. An unknown error (a bug, a
 * middleware's throw) is never repeated.
 */
export function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof SdkError) || !error.retryable) return false;
  if (error instanceof TimeoutError) return error.limit !== "total";
  return error.code !== "integrity_failed";
}

/** Whether the failed attempt may have done the work: then a refused repeat can mean that it did. */
export function mayHaveBeenDone(error: unknown): boolean {
  return !isAnswered(error) || error.status >= 500;
}

/** Milliseconds to wait before attempt `attempt + 1`. The server's `Retry-After` wins, up to the cap. */
export function retryDelay(policy: RetryPolicy, attempt: number, error: unknown, random: () => number): number {
  const retryAfterMs = isAnswered(error) ? error.retryAfterMs : null;
  if (retryAfterMs !== null) return Math.min(retryAfterMs, policy.maxRetryAfterMs);
  return random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
}

/** RFC 9110 §10.2.3: seconds or a date, as milliseconds from now; null when absent or not understood. */
export function parseRetryAfter(text: string | null, nowEpochMs: number): number | null {
  if (text === null) return null;
  if (/^\d{1,9}(\.\d{1,3})?$/.test(text.trim())) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowEpochMs);
}
