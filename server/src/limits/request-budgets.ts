/**
 * Requests a minute of keys that have a budget for them (decision 0057). Each key's number is its own, so they are no
 * bucket of policies.ts. One process counts for itself, or all together, as all rates do (decisions 0012, 0074).
 */
import type { Budget } from "../handler.ts";
import type { SharedPolicy } from "./policies.ts";
import { BoundedRecords } from "./bounded-records.ts";
import { TOLERANCE } from "./rate.ts";

const MINUTE_MS = 60_000;

export interface RequestBudget {
  readonly id: string;
  readonly limit: number;
}

/** For the count of all processes. */
export function policyOf({ limit }: RequestBudget): SharedPolicy {
  return { name: "requestsPerMinute", quota: limit, window: MINUTE_MS / 1000, burst: limit };
}

/** Those of them that count requests. */
export function countedOf(budgets: readonly Budget[]): readonly RequestBudget[] {
  return budgets.flatMap(({ id, limits: { requestsPerMinute: limit } }) =>
    limit === undefined ? [] : [{ id, limit }],
  );
}

export interface RequestsLeft {
  readonly left: number;
  /** Milliseconds until one more is left. */
  readonly wait: number;
}

/** The first budget that has no request left. */
export interface Refused extends RequestsLeft {
  readonly limit: number;
}

/** Times in milliseconds of the monotonic clock. */
export class RequestBudgets {
  readonly #fullAt: BoundedRecords<number>;

  constructor(capacity: number) {
    this.#fullAt = new BoundedRecords(capacity, (fullAt, now) => fullAt <= now);
  }

  /** Takes one of each budget, or of none: then it returns the one that refuses. */
  consume(counted: readonly RequestBudget[], now: number): Refused | null {
    for (const budget of counted) {
      const state = this.left(budget, now);
      if (state.left === 0) return { ...state, limit: budget.limit };
    }
    for (const { id, limit } of counted) {
      const used = this.#usedAt(id, now) + MINUTE_MS / limit;
      this.#fullAt.put(id, now + used, used + MINUTE_MS / limit > MINUTE_MS, now);
    }
    return null;
  }

  left({ id, limit }: RequestBudget, now: number): RequestsLeft {
    const interval = MINUTE_MS / limit;
    const used = this.#usedAt(id, now);
    const left = Math.floor((MINUTE_MS - used) / interval + TOLERANCE);
    return { left, wait: used + (left + 1) * interval - MINUTE_MS };
  }

  #usedAt(id: string, now: number): number {
    return Math.max((this.#fullAt.get(id) ?? 0) - now, 0);
  }
}
