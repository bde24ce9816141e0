/**
 * One bucket for many keys, as the generic cell rate algorithm (ITU-T I.371). It keeps only one time for each key:
 * when its bucket will be full again. A bucket holds `burst` and fills up at `quota` per `window`.
 */
import { BoundedRecords } from "./bounded-records.ts";
import type { Policy } from "./policies.ts";

/** A bucket's state for one key after a request, from which the two header fields are made. */
export interface Taken {
  readonly allowed: boolean;
  /** How many more there are now. */
  readonly left: number;
  /** Milliseconds until there is one more than `left`. */
  readonly wait: number;
}

/** Sums of intervals are not exact in binary; a thousandth of one request is never the reason to refuse it. */
export const TOLERANCE = 0.001;

/** Owns the table of one bucket. Times in milliseconds of the monotonic clock. */
export class Rate {
  readonly #interval: number;
  readonly #span: number;
  readonly #slack: number;
  /** When a key's bucket is full again. */
  readonly #fullAt: BoundedRecords<number>;

  /** `capacity`: how many keys are remembered, see {@link BoundedRecords}. */
  constructor({ quota, window, burst }: Pick<Policy, "quota" | "window" | "burst">, capacity: number) {
    this.#interval = (window * 1000) / quota;
    this.#span = this.#interval * burst;
    this.#slack = this.#interval * TOLERANCE;
    this.#fullAt = new BoundedRecords(capacity, (fullAt, now) => fullAt <= now);
  }

  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes one when there is one. A refusal takes nothing: who keeps asking waits no longer for it. */
  consume(key: string, now: number): Taken {
    const used = Math.max((this.#fullAt.get(key) ?? 0) - now, 0) + this.#interval;
    const missing = used - this.#span;
    if (missing > this.#slack) return { allowed: false, left: 0, wait: missing };
    const left = Math.floor(-missing / this.#interval + TOLERANCE);
    this.#fullAt.put(key, now + used, left === 0, now);
    return { allowed: true, left, wait: missing + (left + 1) * this.#interval };
  }
}
