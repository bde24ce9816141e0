/** Work that keeps the processor busy for milliseconds: a piece each turn of the event loop, so that others have theirs. */
import { setImmediate } from "node:timers/promises";

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs the work when all before it has run and others have had a turn. */
  run<Result>(work: () => Result): Promise<Result> {
    const result = this.#last.then(() => setImmediate()).then(work);
    this.#last = result.catch(ignore);
    return result;
  }
}

/** Its own caller learns of it. */
function ignore(): void {}
