/** When a server's clock is not believed, and for how long, without any I/O. Times in milliseconds. */
import type { Clock } from "../ports/clock.ts";
import type { Mark } from "./running-marks-store.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often a server marks that it runs. */
export const MARK_PAUSE = MINUTE;
/** What a clock may be corrected by, and by how much clocks of several machines may differ. */
const CORRECTION = 5 * MINUTE;
/** A server that does not run for longer looks like one whose clock is ahead. */
const LONGEST_DOWNTIME = DAY;
/** For so long a doubtful clock has to go on without a jump. */
const PATIENCE = DAY;

/** Both clocks of one process at one moment. */
export interface Reading {
  readonly now: number;
  readonly elapsed: number;
}

export function readClocks(clock: Clock): Reading {
  return { now: clock.now(), elapsed: clock.elapsed() };
}

/** The first look of a process, which knows nothing of the time before: null, or what is wrong with its clock. */
export function doubtOfStart(now: number, { marked_at }: Mark): string | null {
  const ahead = now - marked_at;
  const when = `a server on these data last marked ${new Date(marked_at).toISOString()}`;
  if (ahead < -CORRECTION) return `The clock is ${spanOf(-ahead)} behind: ${when}`;
  if (ahead > LONGEST_DOWNTIME) return `The clock is ${spanOf(ahead)} ahead, or no server ran for so long: ${when}`;
  return null;
}

/** Whether the clock was set between two readings of one process. */
export function doubtOfJump(before: Reading, { now, elapsed }: Reading): string | null {
  const jump = now - before.now - (elapsed - before.elapsed);
  if (Math.abs(jump) <= CORRECTION) return null;
  return `The clock was set ${spanOf(Math.abs(jump))} ${jump > 0 ? "ahead" : "back"} while the server ran`;
}

/** Where the database has a clock of its own, all processes are measured by it: those of one machine may be wrong alone. */
export function doubtOfDifference(now: number, databaseNow: number): string | null {
  const ahead = now - databaseNow;
  if (Math.abs(ahead) <= CORRECTION) return null;
  return `The clock of the server that runs the jobs is ${spanOf(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the database's`;
}

/** What a process has read of the clocks. */
export interface Look {
  readonly reading: Reading;
  /** Its reading at its last mark; null: this is its first. */
  readonly last: Reading | null;
  /** null: the database has no clock of its own. */
  readonly databaseNow: number | null;
}

/** The row after a mark: with the time that has passed, and with what is to be doubted. */
export function nextMark(mark: Mark | null, { reading, last, databaseNow }: Look): Mark {
  const ran = last === null ? 0 : Math.max(0, reading.elapsed - last.elapsed);
  const total = (mark?.total ?? 0) + Math.round(ran);
  const marked_at = Math.round(reading.now);
  const doubt =
    (databaseNow === null ? null : doubtOfDifference(reading.now, databaseNow)) ??
    (last === null ? mark && doubtOfStart(reading.now, mark) : doubtOfJump(last, reading));
  if (doubt !== null) return { total, marked_at, doubted_at: total, doubt };
  if (mark === null || waitOf({ ...mark, total }) === 0) return { total, marked_at, doubted_at: null, doubt: null };
  return { ...mark, total, marked_at };
}

/** How much longer servers have to run before the clock is believed; 0: it is. */
export function waitOf(mark: Pick<Mark, "total" | "doubted_at"> | null): number {
  if (mark === null || mark.doubted_at === null) return 0;
  return Math.max(0, mark.doubted_at + PATIENCE - mark.total);
}

/** Why jobs wait, until when, and what shortens it; null: they do not. */
export function explainWait(mark: Mark | null): string | null {
  const wait = waitOf(mark);
  if (mark === null || wait === 0) return null;
  return (
    `${mark.doubt ?? "The clock was set"}. Until servers have run for ${spanOf(wait)} more without another jump of the clock, ` +
    "nothing is deleted and nothing expires for good. If the clock is right now, `coffer-server clock confirm` ends the wait"
  );
}

/** Up to two units, rounded down: `401 days`, `3 h 20 min`. */
export function spanOf(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / MINUTE);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${String(Math.floor(hours / 24))} days`;
  return minutes % 60 === 0 ? `${String(hours)} h` : `${String(hours)} h ${String(minutes % 60)} min`;
}
