/** Waits that grow with wrong passwords for one e-mail, known or not (decisions §2, "login"). */
import { BoundedRecords } from "./bounded-records.ts";

interface Attempts {
  readonly count: number;
  /** The next attempt may begin then. */
  readonly nextAt: number;
  /** All is forgotten then. */
  readonly forgetAt: number;
}

const HOUR = 3_600_000;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/**
 * An attempt counts when it begins, not when its password has been found wrong: guesses sent all at once would otherwise
 * all begin before the first of them has failed. The right password forgets everything, so nobody who knows it is kept
 * out for longer than one wait. Times in milliseconds of the monotonic clock.
 */
export class SignInDelays {
  readonly #free: number;
  readonly #records: BoundedRecords<Attempts>;

  /** `free`: how many attempts come before the first wait. */
  constructor(free: number, capacity: number) {
    this.#free = free;
    this.#records = new BoundedRecords(capacity, ({ forgetAt }, now) => forgetAt <= now);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Begins an attempt, or answers how many milliseconds it must wait. */
  begin(key: string, now: number): number {
    const known = this.#recall(key, now);
    if (known !== null && known.nextAt > now) return known.nextAt - now;
    this.#note(key, (known?.count ?? 0) + 1, now);
    return 0;
  }

  /** The attempt was wrong: the wait runs from here. */
  failed(key: string, now: number): void {
    this.#note(key, this.#recall(key, now)?.count ?? 1, now);
  }

  succeeded(key: string): void {
    this.#records.delete(key);
  }

  #recall(key: string, now: number): Attempts | null {
    const known = this.#records.get(key);
    return known === undefined || known.forgetAt <= now ? null : known;
  }

  #note(key: string, count: number, now: number): void {
    const beyond = count - this.#free;
    const wait = beyond < 0 ? 0 : Math.min(FIRST_WAIT * 2 ** beyond, LONGEST_WAIT);
    this.#records.put(key, { count, nextAt: now + wait, forgetAt: now + HOUR }, wait > 0, now);
  }
}
