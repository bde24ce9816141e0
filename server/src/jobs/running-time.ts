/**
 * The running time of these rows (ports/running-time.ts). The process that holds the jobs' lease marks every minute that it runs, and what
 * its clock says. Who takes the lease compares the clock with the last mark first. So a clock that is wrong makes the jobs wait before it
 * deletes anything, and one that is set right again has deleted nothing.
 */
import type { Clock } from "../ports/clock.ts";
import { type Database, type Queries, readClock } from "../ports/database.ts";
import type { RunningTime } from "../ports/running-time.ts";
import type { JobLog } from "../job-log.ts";
import {
  doubtOfJump,
  doubtOfStart,
  explainWait,
  MARK_PAUSE,
  nextMark,
  type Reading,
  readClocks,
  waitOf,
} from "./clock-doubt-rules.ts";
import { findMark, lockMark, type Mark, putMark } from "./running-marks-store.ts";
import type { Job } from "./schedule.ts";

interface Needs {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: JobLog;
}

/** One row is changed, and the jobs that wait for it free space. */
const ON_FULL_DISK = { freesSpace: true } as const;

/** As any process reads it, whoever marks. */
export function openRunningTime(queries: Queries): RunningTime & {
  /** How much longer servers have to run before jobs delete and expire; 0: they do. Milliseconds. */
  wait(): Promise<number>;
} {
  return {
    total: async () => (await findMark(queries))?.total ?? 0,
    doubt: async () => explainWait(await findMark(queries)),
    wait: async () => waitOf(await findMark(queries)),
  };
}

/** What a start does before its first write: a clock that it doubts is doubted by all who share the rows. */
export async function checkClock({ database, clock, log }: Needs): Promise<void> {
  const known = await database.transaction(async (transaction) => {
    const mark = await lockMark(transaction);
    const doubt = mark === null ? null : doubtOfStart(clock.now(), mark);
    if (mark === null || doubt === null) return mark;
    const doubted = { ...mark, doubted_at: mark.total, doubt };
    await putMark(transaction, doubted);
    return doubted;
  }, ON_FULL_DISK);
  logWait(log, known);
}

/** What is to be confirmed: why jobs wait, or what a start by this clock would make them wait for; null: nothing. */
export async function readClockState({ database, clock }: Pick<Needs, "database" | "clock">): Promise<string | null> {
  const mark = await findMark(database);
  return explainWait(mark) ?? (mark === null ? null : doubtOfStart(clock.now(), mark));
}

/** An operator says that the clock is right. */
export async function confirmClock({ database, clock }: Pick<Needs, "database" | "clock">): Promise<void> {
  await database.transaction(async (transaction) => {
    const total = (await lockMark(transaction))?.total ?? 0;
    await putMark(transaction, { total, marked_at: clock.now(), doubted_at: null, doubt: null });
  }, ON_FULL_DISK);
}

/** A job read a clock that was set since it was looked at. The next run finds why the jobs wait. */
class DoubtfulClockError extends Error {
  override readonly name = "DoubtfulClockError";
}

/** Marks the time, in the process that holds the jobs' lease. Each holding needs one of its own, as others have marked before. */
export class RunningMarks implements RunningTime {
  readonly #needs: Needs;
  /** null until the first mark: until then nothing is known of the clock. */
  #last: Reading | null = null;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async total(): Promise<number> {
    return (await findMark(this.#needs.database))?.total ?? 0;
  }

  async doubt(): Promise<string | null> {
    if (this.#last === null) return "The clock is not compared yet";
    return this.#jump() ?? explainWait(await findMark(this.#needs.database));
  }

  /** First of all jobs. */
  readonly job: Job = {
    name: "mark the running time",
    pause: MARK_PAUSE,
    run: async () => {
      await this.mark();
      return {};
    },
  };

  async mark(): Promise<void> {
    const { database, clock, log } = this.#needs;
    const last = this.#last;
    const { before, after, reading } = await database.transaction(async (transaction) => {
      const before = await lockMark(transaction);
      const isElsewhere = database.capabilities.dialect === "postgres";
      const databaseNow = isElsewhere ? await readClock(database, transaction) : null;
      const reading = readClocks(clock);
      const after = nextMark(before, { reading, last, databaseNow });
      await putMark(transaction, after);
      return { before, after, reading };
    }, ON_FULL_DISK);
    this.#last = reading;
    if (after.doubt !== (before?.doubt ?? null)) logWait(log, after);
    if (after.doubt === null && before?.doubt != null) log.info({ job: this.job.name }, "the clock is believed again");
  }

  /**
   * Does not run while the clock is doubted, and ends where it would read a clock that was set meanwhile. It looks again every minute, so
   * that it goes on soon after the wait.
   */
  waiting(jobOf: (clock: Clock) => Job): Job {
    const { clock } = this.#needs;
    const now = (): number => {
      const jump = this.#jump();
      if (jump !== null) throw new DoubtfulClockError(jump);
      return clock.now();
    };
    const job = jobOf({ now, elapsed: () => clock.elapsed() });
    let dueAt = -Infinity;
    const run: Job["run"] = async (signal) => {
      if (clock.elapsed() < dueAt || (await this.doubt()) !== null) return {};
      try {
        return await job.run(signal);
      } catch (error) {
        if (!(error instanceof DoubtfulClockError)) throw error;
        return {};
      } finally {
        // The looks of a job that comes back sooner are its runs.
        if (job.pause > MARK_PAUSE) dueAt = clock.elapsed() + job.pause;
      }
    };
    return { ...job, pause: Math.min(job.pause, MARK_PAUSE), run };
  }

  #jump(): string | null {
    return this.#last === null ? null : doubtOfJump(this.#last, readClocks(this.#needs.clock));
  }
}

function logWait(log: JobLog, mark: Mark | null): void {
  const why = explainWait(mark);
  if (why !== null) log.error({ job: "clock", wait: waitOf(mark), why }, "jobs that delete or expire wait");
}
