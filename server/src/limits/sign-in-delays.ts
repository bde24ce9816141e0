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
const FAMILIAR = 30 * 24 * HOUR;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/**
 * An attempt counts when it begins, not when its password has been found wrong: guesses sent all at once would otherwise
 * all begin before the first of them has failed. The right password forgets everything.
 *
 * A client whose sign-in succeeded has waits of its own from then on: else somebody who keeps guessing elsewhere would take
 * every turn when a wait ends, and lock the owner out after all (OWASP "device cookies", here by address). Who guesses
 * gains nothing by it: to be familiar takes the right password. Times in milliseconds of the monotonic clock.
 */
export class SignInDelays {
  readonly #free: number;
  readonly #records: BoundedRecords<Attempts>;
  /** Until when a client is familiar to an e-mail, by both. */
  readonly #familiar: BoundedRecords<number>;

  /** `free`: how many attempts come before the first wait. */
  constructor(free: number, capacity: number) {
    this.#free = free;
    this.#records = new BoundedRecords(capacity, ({ forgetAt }, now) => forgetAt <= now);
    this.#familiar = new BoundedRecords(capacity, (until, now) => until <= now);
  }

  /** Begins an attempt, or answers how many milliseconds it must wait. */
  begin(email: string, client: string, now: number): number {
    const key = this.#keyOf(email, client, now);
    const known = this.#recall(key, now);
    if (known !== null && known.nextAt > now) return known.nextAt - now;
    this.#note(key, (known?.count ?? 0) + 1, now);
    return 0;
  }

  /** The attempt was wrong: the wait runs from here. */
  failed(email: string, client: string, now: number): void {
    const key = this.#keyOf(email, client, now);
    this.#note(key, this.#recall(key, now)?.count ?? 1, now);
  }

  succeeded(email: string, client: string, now: number): void {
    this.#records.delete(this.#keyOf(email, client, now));
    this.#familiar.put(bothOf(email, client), now + FAMILIAR, false, now);
  }

  /** The account's owner has shown another proof: nobody's guesses hold him up any more. */
  forget(email: string): void {
    this.#records.delete(email);
  }

  #keyOf(email: string, client: string, now: number): string {
    const both = bothOf(email, client);
    return (this.#familiar.get(both) ?? 0) > now ? both : email;
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

/** No e-mail address of the contract and no address of a client holds a blank. */
function bothOf(email: string, client: string): string {
  return `${email} ${client}`;
}
