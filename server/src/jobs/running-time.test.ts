import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { fileRow, insertAccount } from "../../../test/kit/rows.ts";
import { parseConfig } from "../config.ts";
import type { Clock } from "../ports/clock.ts";
import { openLeases } from "../ports/leases.ts";
import { systemRandom } from "../ports/random.ts";
import { openDatabase } from "../storage.ts";
import { ofEachTest } from "../each.test-kit.ts";
import { openTestSqlite } from "../storage.test-kit.ts";
import { fenced, LeaseLostError } from "./fenced-database.ts";
import { checkClock, confirmClock, openRunningTime, RunningMarks } from "./running-time.ts";
import type { Job } from "./schedule.ts";
import { purgeTrash } from "./trash-purge.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const running = new AbortController().signal;

/** Its clock is this machine's, and no process is measured by it. */
const opened = ofEachTest(async () => {
  const database = await openTestSqlite(makeDirectory());
  return { database, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
});

/** A machine's clocks: what passes does so on both, and the one that can be set is set alone. */
class MachineClock implements Clock {
  #now = Date.now();
  #elapsed = 0;

  now = (): number => this.#now;
  elapsed = (): number => this.#elapsed;

  pass(milliseconds: number): void {
    this.#now += milliseconds;
    this.#elapsed += milliseconds;
  }

  set(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

let clock: MachineClock;
const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
const say = (fields: Readonly<Record<string, unknown>>, message: string) => void lines.push({ message, fields });
const log = { info: say, error: say };
const needs = () => ({ database: opened.database, clock, log });
const { settings } = parseConfig({ SERVICE_ENV: "development" });

beforeEach(() => {
  clock = new MachineClock();
  lines.length = 0;
});

/** A server that starts, and holds the jobs' lease. */
async function start(): Promise<RunningMarks> {
  await checkClock(needs());
  const marks = new RunningMarks(needs());
  await marks.mark();
  return marks;
}

/** With a mark each hour: how often is nothing that they depend on. */
async function runFor(marks: RunningMarks, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0; left -= 60 * MINUTE) {
    clock.pass(Math.min(left, 60 * MINUTE));
    await marks.mark();
  }
}

/** How often a job ran, of which all wait that delete. */
function countingJob(marks: RunningMarks, pause = MINUTE) {
  const counts = { runs: 0 };
  const job: Job = marks.waiting(() => ({
    name: "delete",
    pause,
    run: () => Promise.resolve({ runs: (counts.runs += 1) }),
  }));
  return { counts, run: () => job.run(running) };
}

async function trashFile(): Promise<string> {
  const { database } = opened;
  const { accountId, vaultId } = await insertAccount(database);
  const row = fileRow({ account_id: accountId, vault_id: vaultId, blob_key: randomUUID(), trashed_at: clock.now() });
  await database.run(database.build.insertInto("files").values(row));
  return row.id;
}

const filesLeft = async () =>
  (await opened.database.all(opened.database.build.selectFrom("files").select("id"))).map(({ id }) => id);

describe("the running time", () => {
  it("is what servers ran in all by the monotonic clock, and never goes back", async () => {
    const first = await start();
    await runFor(first, 3 * MINUTE);
    clock.set(-2 * DAY);
    await runFor(first, MINUTE);
    expect(await first.total()).toBe(4 * MINUTE);
    clock.pass(10 * DAY);
    const second = await start();
    await runFor(second, MINUTE);
    expect(await openRunningTime(opened.database).total()).toBe(5 * MINUTE);
  });
});

describe("jobs that delete or expire", () => {
  it("run at the first start, after a short downtime, and not before the clock is compared", async () => {
    const unmarked = new RunningMarks(needs());
    const early = countingJob(unmarked);
    await early.run();
    expect(early.counts.runs).toBe(0);
    const first = await start();
    const { counts, run } = countingJob(first);
    await run();
    expect(counts.runs).toBe(1);
    clock.pass(DAY);
    expect(await (await start()).doubt()).toBeNull();
    expect(lines).toEqual([]);
  });

  it.each([
    ["two days ahead", 2 * DAY],
    ["400 days ahead", 400 * DAY],
    ["an hour behind", -60 * MINUTE],
  ])("wait when a start finds the clock %s, and delete nothing once it is set right", async (_, ahead) => {
    const file = await trashFile();
    await runFor(await start(), MINUTE);
    clock.set(ahead);
    const wrong = await start();
    expect(await wrong.doubt()).toMatch(/^The clock is .* `coffer-server clock confirm` ends the wait$/);
    const purge = wrong.waiting((held) => ({
      name: "purge",
      pause: MINUTE,
      run: (signal) => purgeTrash({ ...needs(), settings, clock: held, random: systemRandom }, signal),
    }));
    await purge.run(running);
    expect(lines.map(({ message }) => message)).toEqual(["jobs that delete or expire wait"]);
    clock.set(-ahead);
    const right = await start();
    expect(await openRunningTime(opened.database).wait()).toBe(DAY);
    expect(await filesLeft()).toEqual([file]);
    await runFor(right, DAY);
    expect(await right.doubt()).toBeNull();
    expect(lines.at(-1)?.message).toBe("the clock is believed again");
  });

  it("go on by themselves after a day of running, even if the clock was right: a long downtime costs a day", async () => {
    const file = await trashFile();
    await start();
    clock.pass(40 * DAY);
    const marks = await start();
    const { counts, run } = countingJob(marks, 60 * MINUTE);
    await runFor(marks, DAY - MINUTE);
    await run();
    expect([counts.runs, await filesLeft()]).toEqual([0, [file]]);
    await runFor(marks, MINUTE);
    await run();
    expect(counts.runs).toBe(1);
  });

  it("wait from the moment when the clock is set while the server runs, before the next mark", async () => {
    const marks = await start();
    const { counts, run } = countingJob(marks);
    clock.set(2 * DAY);
    await run();
    expect(counts.runs).toBe(0);
    expect(await marks.doubt()).toBe("The clock was set 2 days ahead while the server ran");
    await marks.mark();
    expect(await openRunningTime(opened.database).doubt()).toContain("The clock was set 2 days ahead");
    clock.set(-2 * DAY);
    await run();
    await marks.mark();
    expect(await marks.doubt()).toContain("The clock was set 2 days back");
    expect(counts.runs).toBe(0);
  });

  it("end where they would read a clock that was set while they ran", async () => {
    const file = await trashFile();
    const marks = await start();
    const purge = marks.waiting((held) => ({
      name: "purge",
      pause: MINUTE,
      run: (signal) => {
        clock.set(400 * DAY);
        return purgeTrash({ ...needs(), settings, clock: held, random: systemRandom }, signal);
      },
    }));
    expect(await purge.run(running)).toEqual({});
    expect(await filesLeft()).toEqual([file]);
  });

  it("run at their own pace, and within a minute after the wait", async () => {
    const marks = await start();
    const { counts, run } = countingJob(marks, 60 * MINUTE);
    for (let minute = 0; minute < 60; minute += 1) {
      await run();
      await runFor(marks, MINUTE);
    }
    expect(counts.runs).toBe(1);
    clock.set(2 * DAY);
    await marks.mark();
    await run();
    expect(counts.runs).toBe(1);
    await confirmClock(needs());
    await run();
    expect(counts.runs).toBe(2);
  });

  it("wait for all who share the rows: a server whose clock is not the others' deletes nothing", async () => {
    const right = await start();
    const wrongClock = new MachineClock();
    wrongClock.set(2 * DAY);
    await checkClock({ ...needs(), clock: wrongClock });
    expect(await right.doubt()).toContain("The clock is 2 days ahead");
    await runFor(right, DAY);
    expect(await right.doubt()).toBeNull();
    // It takes the lease over, and looks at once.
    const wrong = new RunningMarks({ ...needs(), clock: wrongClock });
    wrongClock.pass(DAY);
    await wrong.mark();
    expect(await wrong.doubt()).toMatch(/2 days ahead/);
  });

  it("write nothing once another process has their lease", async () => {
    const { database } = opened;
    const times = { lifetime: 60_000, renewEvery: 60_000, margin: 0 };
    const lease = await openLeases({ database, clock, random: systemRandom }, times).acquire("jobs");
    if (lease === null) throw new Error("the lease is taken");
    const held = fenced(database, lease);
    const marks = new RunningMarks({ ...needs(), database: held });
    await marks.mark();
    await database.run(database.build.updateTable("leases").set((row) => ({ fence: row("fence", "+", 1) })));
    clock.pass(MINUTE);
    await expect(marks.mark()).rejects.toThrow(LeaseLostError);
    await expect(held.run(database.build.deleteFrom("running_marks"))).rejects.toThrow(LeaseLostError);
    const { accountId } = await insertAccount(database);
    await expect(held.act([accountId], () => Promise.resolve(1))).rejects.toThrow(LeaseLostError);
    expect(await openRunningTime(database).total()).toBe(0);
    lease.abandon();
  });
});

describe("on PostgreSQL", () => {
  it("the database's clock is the measure: a server whose own clock is another one waits for as long as it is", async () => {
    await using place = await createDatabase("migrated");
    const config = { kind: "postgres", url: place.url, directUrl: null, connections: 4, sessions: true } as const;
    await using database = await openDatabase({ database: config });
    const right = new RunningMarks({ database, clock, log });
    await right.mark();
    expect(await right.doubt()).toBeNull();
    clock.set(20 * 60 * MINUTE);
    const wrong = new RunningMarks({ database, clock, log });
    await wrong.mark();
    expect(await wrong.doubt()).toMatch(
      /^The clock of the server that runs the jobs is \d+ h( \d+ min)? ahead of the database's/,
    );
  });
});
