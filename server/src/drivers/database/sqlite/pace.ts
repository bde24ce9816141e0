/**
 * SQLite answers at once, so work that waits for nothing but its queries never lets go of the event loop: a transaction over 50,000 rows, or
 * a job that runs a thousand short ones behind each other, would keep everybody waiting to the end. Those who have done much give way.
 */
import { setImmediate as turnOfTheLoop } from "node:timers/promises";

/** Statements, and rows that they read or changed, after which the loop has its turn: some 20 ms of work. */
const PORTION = 500;

export class Pace {
  #done = 0;
  #pause: Promise<void> | null = null;

  /** What a statement came to. */
  count(rows: number): void {
    this.#done += 1 + rows;
  }

  /** Whether {@link giveWay} is due before the next statement. */
  get isSpent(): boolean {
    return this.#done >= PORTION;
  }

  /** Lets the loop serve what has arrived. All who wait for it go on in the order in which they came. */
  giveWay(): Promise<void> {
    this.#pause ??= turnOfTheLoop().then(() => {
      this.#done = 0;
      this.#pause = null;
    });
    return this.#pause;
  }
}
