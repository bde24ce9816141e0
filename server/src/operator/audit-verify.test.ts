import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/kit/clock.ts";
import { openTestLog, TEST_TIME, type TestLog } from "../features/audit/log.test-kit.ts";
import { removeOldEntries } from "../jobs/audit-retention.ts";
import { ON_POSTGRES } from "../storage.test-kit.ts";
import { UsageError } from "./commands.ts";
import { runCommand } from "./operator.test-kit.ts";

let log: TestLog;
beforeEach(async () => {
  log = await openTestLog();
});
afterEach(() => log[Symbol.asyncDispose]());

const run = (...options: string[]) => runCommand(log.directory, "audit", "verify", ...options);

async function headOf(accountId: string): Promise<string> {
  const { head } = await log.check(accountId);
  return `${head.sequence}:${head.hash}`;
}

describe("[D4-audit-log] coffer-server audit verify", () => {
  it("finds every log intact beside a running server, and prints what to note of each", async () => {
    const other = await log.addAccount();
    await log.record(3);
    const { status, out, note } = await run();
    expect(status).toBe(0);
    expect(out.split("\n").sort()).toEqual(
      [
        "",
        `${log.accountId}: intact, 3 entries, newest ${await headOf(log.accountId)}`,
        `${other}: intact, 0 entries, newest 0:${"0".repeat(64)}`,
      ].sort(),
    );
    expect(note).toBe("3 entries of 2 accounts: intact\n");
  });

  it("works while the server is stopped", async () => {
    await log.record(3);
    await log.database[Symbol.asyncDispose]();
    expect((await run()).status).toBe(0);
  });

  it("names the first altered entry of each account and ends with 1", async () => {
    const other = await log.addAccount();
    await log.record(5);
    await log.record(5, { accountId: other });
    const third = (
      await log.database.all(
        log.database.build
          .selectFrom("changes")
          .select(["id", "sequence"])
          .where("account_id", "=", log.accountId)
          .where("sequence", "=", 3),
      )
    )[0];
    await log.alter("UPDATE changes SET action = 'x' WHERE account_id = ? AND sequence IN (3, 4)", log.accountId);
    const { status, out, note } = await run();
    expect(status).toBe(1);
    expect(out).toContain(
      `${log.accountId}: ALTERED entry 3 (id "${String(third?.id)}"): it does not have the hash it was written with\n`,
    );
    expect(out).toContain(`${other}: intact`);
    expect(note).toBe("7 entries of 2 accounts: 1 altered\n");
    expect((await run("--account", other)).status).toBe(0);
    expect((await run("--account", log.accountId)).status).toBe(1);
  });

  it("names entries of an account that does not exist", async () => {
    await log.record(2);
    const nobody = "00000000-0000-4000-8000-000000000000";
    await log.alter("UPDATE changes SET account_id = ? WHERE sequence = 2", nobody);
    const { status, out } = await run();
    expect(status).toBe(1);
    expect(out).toContain(`${nobody}: INSERTED entry 2 `);
    expect(out).toContain(`${log.accountId}: MISSING entry 2: `);
  });

  it("prints one JSON document a line", async () => {
    await log.record(3);
    const intact = await run("--json");
    expect(JSON.parse(intact.out)).toEqual({
      accountId: log.accountId,
      intact: true,
      entries: 3,
      removed: 0,
      fault: null,
      head: (await log.check()).head,
    });
    await log.alter("DELETE FROM changes WHERE sequence = 2");
    const altered = await run("--json");
    expect(JSON.parse(altered.out)).toMatchObject({
      accountId: log.accountId,
      intact: false,
      entries: 1,
      fault: { sequence: 2, id: null, kind: "missing" },
    });
  });

  it("sees a log whose hashes were all computed anew, against an entry that was noted", async () => {
    await log.record(3);
    const noted = await headOf(log.accountId);
    await log.record(2);
    const expectation = ["--account", log.accountId, "--expect", noted];
    expect((await run(...expectation)).status).toBe(0);
    await log.alter("DELETE FROM changes");
    await log.alter("UPDATE accounts SET sequence = 0, changes_hash = ?", "0".repeat(64));
    await log.record(5, { from: Date.UTC(2026, 1, 1) });
    expect((await run()).status).toBe(0);
    const { status, out } = await run(...expectation);
    expect(status).toBe(1);
    expect(out).toContain(`${log.accountId}: ALTERED entry 3 `);
  });

  it("does not call a log intact whose noted entry was removed, or is said to have been", async () => {
    await log.record(3);
    const noted = await headOf(log.accountId);
    await log.record(3);
    const removeOld = (after: number) =>
      removeOldEntries(
        { database: log.database, clock: new ManualClock(TEST_TIME + after + 365 * 24 * 60 * 60_000) },
        new AbortController().signal,
      );
    const expectation = ["--account", log.accountId, "--expect", noted];
    await removeOld(1);
    expect((await run(...expectation)).status).toBe(0);
    const forged = noted.replace(/.$/, noted.endsWith("0") ? "1" : "0");
    expect((await run("--account", log.accountId, "--expect", forged)).status).toBe(1);
    await log.alter("DELETE FROM changes WHERE sequence <= 4");
    const third = (await log.check()).fault;
    expect(third).toMatchObject({ sequence: 3, kind: "missing" });
    await log[Symbol.asyncDispose]();
    log = await openTestLog();
    await log.record(6);
    await removeOld(4);
    const answer = await run("--account", log.accountId, "--expect", `3:${"0".repeat(64)}`);
    expect(answer).toMatchObject({ status: 2, note: expect.stringContaining("could not be checked") as string });
  });

  it("compares the logs with the heads that were kept elsewhere: what was written since is fine, and what is gone is not [issue 51]", async () => {
    const other = await log.addAccount();
    await log.record(3);
    const file = join(log.directory, "heads.txt");
    const heads = `${log.accountId} ${await headOf(log.accountId)}\n${other} ${await headOf(other)}\n`;
    writeFileSync(file, heads);
    await log.record(2);
    expect((await run("--heads", file)).status).toBe(0);
    // Rows of before that, or another's.
    const forged = heads.replace(/3:[0-9a-f]{64}/, `3:${"a".repeat(64)}`);
    writeFileSync(file, forged);
    expect(await run("--heads", file)).toMatchObject({ status: 1, out: expect.stringContaining("ALTERED entry 3") });
    writeFileSync(file, heads.replaceAll(other, "0".repeat(8) + other.slice(8)));
    expect(await run("--heads", file)).toMatchObject({
      status: 1,
      out: expect.stringContaining("the account is gone"),
    });
    writeFileSync(file, "no head\n");
    await expect(run("--heads", file)).rejects.toThrow("line 1 is not <account> <sequence>:<hash>");
    await expect(run("--heads", file, "--account", other)).rejects.toThrow(UsageError);
  });

  it("checks a long log in one pass", async () => {
    await log.record(10_000);
    const { status, out } = await run();
    expect(status).toBe(0);
    expect(out).toContain("intact, 10000 entries");
    await log.alter("UPDATE changes SET occurred_at = occurred_at + 1 WHERE sequence = 9999");
    expect((await run()).out).toContain("ALTERED entry 9999 ");
  });

  it("ends with 2 where there is nothing to check: no database, an earlier schema, no such account", async () => {
    expect((await run("--account", "nobody")).status).toBe(2);
    await log.alter("UPDATE migrations SET version = 41");
    const earlier = "Could not check: The database has schema 41, of before the first release";
    expect(await run()).toMatchObject({ status: 2, note: expect.stringContaining(earlier) as string });
    await log.alter("DROP TABLE migrations");
    expect((await run()).status).toBe(2);
    await log[Symbol.asyncDispose]();
    expect(await run()).toMatchObject({ status: 2, note: expect.stringContaining("SERVICE_DATA_DIR") as string });
    log = await openTestLog();
  });

  it("ends with 2, and says why, where the rows cannot be read", async (context) => {
    if (ON_POSTGRES) context.skip("it damages a file of SQLite");
    const path = join(log.directory, "coffer.sqlite");
    await log.record(3);
    await log.database[Symbol.asyncDispose]();
    const whole = readFileSync(path);
    const damaged = {
      "no database at all": Buffer.alloc(8192, "x"),
      "all pages but the first two": Buffer.from(whole),
    };
    damaged["all pages but the first two"].fill(0xff, 8192);
    for (const bytes of Object.values(damaged)) {
      writeFileSync(path, bytes);
      const { status, note } = await run();
      expect([status, note]).toEqual([2, expect.stringMatching(/^Could not check: .*\. Nothing was changed: /)]);
    }
    rmSync(log.directory, { recursive: true });
    log = await openTestLog();
  });

  it.each([["--what"], ["more"], ["--expect", "3"], ["--expect", `3:${"0".repeat(64)}`], ["--account"]])(
    "does not guess what %s %s means",
    async (...options) => {
      await expect(run(...options)).rejects.toBeInstanceOf(UsageError);
    },
  );
});
