import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/kit/clock.ts";
import { openTestLog, TEST_TIME, type TestLog } from "../features/audit/log.test-kit.ts";
import { removeOldEntries } from "./audit-retention.ts";

const YEAR = 365 * 24 * 60 * 60_000;
let log: TestLog;
let clock: ManualClock;
beforeEach(async () => {
  log = await openTestLog();
  clock = new ManualClock(TEST_TIME);
});
afterEach(() => log[Symbol.asyncDispose]());

const remove = (signal = new AbortController().signal) => removeOldEntries({ database: log.database, clock }, signal);
async function sequences(accountId = log.accountId): Promise<number[]> {
  const { build } = log.database;
  const rows = await log.database.all(
    build.selectFrom("changes").select("sequence").where("account_id", "=", accountId).orderBy("sequence"),
  );
  return rows.map(({ sequence }) => sequence);
}

describe("[D4-audit-365] the audit log is kept 365 days:", () => {
  it("an entry goes when it is exactly that old, and not a millisecond earlier", async () => {
    await log.record(3);
    clock.advance(YEAR - 1);
    expect(await remove()).toEqual({ removed: 0 });
    clock.advance(1);
    expect(await remove()).toEqual({ removed: 1 });
    expect(await sequences()).toEqual([2, 3]);
    clock.advance(1);
    expect(await remove()).toEqual({ removed: 1 });
    expect(await sequences()).toEqual([3]);
  });

  it("what is left is a whole chain from the hash of the newest entry removed, and goes on", async () => {
    await log.record(5);
    clock.advance(YEAR + 2);
    await remove();
    expect(await log.check()).toMatchObject({ entries: 2, fault: null, removed: { sequence: 3 } });
    await log.record(2, { from: clock.now() });
    expect(await log.check()).toMatchObject({ entries: 4, fault: null });
    clock.advance(1000 * 24 * 60 * 60_000);
    expect(await remove()).toEqual({ removed: 4 });
    expect(await log.check()).toMatchObject({
      entries: 0,
      fault: null,
      head: { sequence: 7 },
      removed: { sequence: 7 },
    });
    await log.record(1, { from: clock.now() });
    expect(await sequences()).toEqual([8]);
    expect(await log.check()).toMatchObject({ entries: 1, fault: null });
  });

  it("somebody else's removal of old entries is seen", async () => {
    await log.record(5);
    clock.advance(YEAR);
    await remove();
    await log.alter("DELETE FROM changes WHERE sequence = 2");
    expect((await log.check()).fault).toMatchObject({ sequence: 2, kind: "missing" });
    await log.alter("UPDATE removed_changes SET sequence = 2");
    expect((await log.check()).fault).toMatchObject({ sequence: 3, kind: "altered" });
    await log.alter("DELETE FROM removed_changes");
    expect((await log.check()).fault).toMatchObject({ sequence: 1, kind: "missing" });
  });

  it("a clock that was set back makes no gap: a later entry waits for the ones before it", async () => {
    await log.record(1, { from: TEST_TIME });
    await log.record(1, { from: TEST_TIME + 1000 });
    await log.record(1, { from: TEST_TIME - 1000 });
    clock.advance(YEAR);
    expect(await remove()).toEqual({ removed: 1 });
    expect(await sequences()).toEqual([2, 3]);
    clock.advance(1000);
    expect(await remove()).toEqual({ removed: 2 });
    expect(await log.check()).toMatchObject({ entries: 0, fault: null });
  });

  it("every account by itself, and more than one batch", async () => {
    const other = await log.addAccount();
    await log.record(1203);
    await log.record(2, { accountId: other, from: TEST_TIME + 5000 });
    clock.advance(YEAR + 1201);
    expect(await remove()).toEqual({ removed: 1202 });
    expect(await sequences()).toEqual([1203]);
    expect(await sequences(other)).toEqual([1, 2]);
    expect((await log.check(other)).fault).toBeNull();
  });

  it("also where many entries of many accounts are of one moment", async () => {
    for (let number = 0; number < 3; number += 1) {
      const accountId = await log.addAccount();
      await log.record(300, { accountId, step: 0 });
    }
    clock.advance(YEAR);
    expect(await remove()).toEqual({ removed: 900 });
  });

  it("a server that stops leaves a whole chain", async () => {
    await log.record(1203);
    clock.advance(2 * YEAR);
    const stopping = new AbortController();
    stopping.abort();
    expect(await remove(stopping.signal)).toEqual({ removed: 0 });
    expect(await log.check()).toMatchObject({ entries: 1203, fault: null });
  });
});
