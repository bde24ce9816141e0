import type { Clock } from "@coffer/server/ports/clock";

/** A clock that stands still until it is told. */
export class ManualClock implements Clock {
  #now: number;

  /** Milliseconds since the Unix epoch. */
  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
