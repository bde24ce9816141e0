/** How long an attempt to sign in waits after wrong passwords (decisions §2, "login"). Times in milliseconds. */
import { isOver } from "../../ports/stored-ends.ts";

export interface Attempts {
  readonly attempts: number;
  /** The next attempt may begin then. */
  readonly next_at: number;
  /** All is forgotten then. */
  readonly expires_at: number;
}

const HOUR = 3_600_000;
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 60_000;

/** How long a client stays familiar to an e-mail after it signed in with its password. */
export const FAMILIAR_MS = 30 * 24 * HOUR;

/**
 * An attempt that begins now, or the milliseconds that it must wait. It counts when it begins, not when its password
 * has been found wrong. Otherwise guesses sent all at once would all begin before the first of them has failed.
 * @param free how many attempts come before the first wait.
 */
export function startAttempt(known: Attempts | null, now: number, free: number): Attempts | { readonly wait: number } {
  const live = recall(known, now);
  if (live !== null && live.next_at > now) return { wait: live.next_at - now };
  return countTo((live?.attempts ?? 0) + 1, now, free);
}

/** The attempt was wrong: the wait runs from here. */
export function failAttempt(known: Attempts | null, now: number, free: number): Attempts {
  return countTo(recall(known, now)?.attempts ?? 1, now, free);
}

/** What was noted while the clock was ahead is forgotten: the right password would wait for as long as it was ahead. */
function recall(known: Attempts | null, now: number): Attempts | null {
  return known === null || isOver(known.expires_at, now, HOUR) ? null : known;
}

function countTo(attempts: number, now: number, free: number): Attempts {
  const beyond = attempts - free;
  const wait = beyond < 0 ? 0 : Math.min(FIRST_WAIT * 2 ** beyond, LONGEST_WAIT);
  return { attempts, next_at: now + wait, expires_at: now + HOUR };
}
