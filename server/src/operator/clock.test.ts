import { describe, expect, it } from "vitest";
import { openTestLog } from "../features/audit/log.test-kit.ts";
import { checkClock, openRunningTime, RunningMarks } from "../jobs/running-time.ts";
import { ofEachTest } from "../each.test-kit.ts";
import { UsageError } from "./command.ts";
import { runCommand } from "./operator.test-kit.ts";

const DAY = 86_400_000;
const log = ofEachTest(openTestLog);
const silent = { info: () => undefined, error: () => undefined };

const run = (...options: string[]) => runCommand(log.directory, "clock", "confirm", ...options);

/** As of a server whose clock is so far ahead. */
const needsOf = (ahead: number) => {
  const clock = { now: () => Date.now() + ahead, elapsed: () => performance.now() };
  return { database: log.database, clock, log: silent };
};

async function actions() {
  const { database, accountId } = log;
  const rows = await database.all(
    database.build.selectFrom("changes").select(["action", "actor_json"]).where("account_id", "=", accountId),
  );
  return rows.map(({ action, actor_json }) => [action, (JSON.parse(actor_json) as { type: string }).type]);
}

describe("coffer-server clock confirm", () => {
  it("ends the wait, and the audit log of each account names the operator", async () => {
    await new RunningMarks(needsOf(-3 * DAY)).mark();
    await checkClock(needsOf(0));
    const time = openRunningTime(log.database);
    expect(await time.wait()).toBe(DAY);
    const { status, note } = await run();
    expect(status).toBe(0);
    expect(note).toContain("The clock is 3 days ahead");
    expect(await time.doubt()).toBeNull();
    expect(await actions()).toContainEqual(["server.clock_confirmed", "operator"]);
  });

  it("says before a start that the time since the last mark is right", async () => {
    await new RunningMarks(needsOf(-40 * DAY)).mark();
    expect((await run()).note).toContain("The clock is 40 days ahead, or no server ran for so long");
    await checkClock(needsOf(0));
    expect(await openRunningTime(log.database).doubt()).toBeNull();
  });

  it("changes nothing when nothing waits", async () => {
    await new RunningMarks(needsOf(0)).mark();
    const before = await actions();
    expect(await run()).toMatchObject({ status: 0 });
    expect((await run()).note).toContain("Nothing waits");
    expect(await actions()).toEqual(before);
    await expect(run("now")).rejects.toThrow(UsageError);
  });
});
