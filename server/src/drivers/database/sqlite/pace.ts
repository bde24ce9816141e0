/**
 * SQLite answers at once, so work that waits only for its queries never lets go of the event loop. A transaction over
 * 50,000 rows, or a job of a thousand short ones, would make everybody wait to the end. Work that has done much gives
 * way.
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
