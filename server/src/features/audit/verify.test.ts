import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChangeRow } from "../../ports/tables.ts";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import { openTestLog, type TestLog } from "./log.test-kit.ts";

const ROWS = 6;
let log: TestLog;
let rows: ChangeRow[];
beforeEach(async () => {
  log = await openTestLog();
  await log.record(ROWS);
  const { build } = log.database;
  rows = await log.database.all(build.selectFrom("changes").selectAll().orderBy("sequence"));
});
afterEach(() => log[Symbol.asyncDispose]());

const rowAt = (sequence: number): ChangeRow => rows[sequence - 1] as ChangeRow;
async function faultOf(accountId?: string) {
  const { fault } = await log.check(accountId);
  return fault === null ? null : { sequence: fault.sequence, id: fault.id, kind: fault.kind };
}

describe("[D4-audit-log] the check of an account's log", () => {
  it("finds what the service wrote intact, and says what its newest entry is", async () => {
    const newest = { sequence: ROWS, hash: rowAt(ROWS).hash };
    const removed = { sequence: 0, hash: "0".repeat(64) };
    expect(await log.check()).toEqual({ entries: ROWS, newest, fault: null, head: newest, removed });
  });

  const edits: Readonly<Record<string, (row: ChangeRow) => string | number>> = {
    id: () => "00000000-0000-4000-8000-000000000000",
    action: () => "file.deleted",
    actor_json: () => '{"type":"session","id":null,"accessLevel":null,"chainAddress":null}',
    "actor_json ": ({ actor_json }) => ` ${actor_json}`,
    "actor_json  ": ({ actor_json }) => actor_json.replace("{", '{"name":"more",'),
    "actor_json   ": () => "system",
    "actor_json    ": () => "",
    target_json: ({ target_json }) => target_json.replace("file", "folder"),
    "target_json ": () => "null",
    context_json: () => '{"requestId":"r","location":null,"userAgent":null}',
    "context_json ": () => "{}",
    occurred_at: ({ occurred_at }) => occurred_at + 1,
    "occurred_at ": () => "later",
    previous_hash: () => "1".repeat(64),
    hash: () => "1".repeat(64),
    "hash ": ({ hash }) => hash.toUpperCase(),
  };
  // PostgreSQL takes no word in a column of numbers.
  const possible = Object.entries(edits).filter(([column]) => !ON_POSTGRES || column !== "occurred_at ");
  const cases = possible.flatMap(([column, edit]) => [1, 3, ROWS].map((sequence) => [sequence, column, edit] as const));

  it.each(cases)("names entry %i when its %s was edited", async (sequence, column, edit) => {
    const value = edit(rowAt(sequence));
    await log.alter(`UPDATE changes SET ${column.trim()} = ? WHERE sequence = ?`, value, sequence);
    const id = column === "id" ? value : rowAt(sequence).id;
    expect(await faultOf()).toEqual({ sequence, id, kind: "altered" });
  });

  it.each([1, 3, ROWS])("names entry %i when it was deleted, or moved to another account", async (sequence) => {
    const other = await log.addAccount();
    await log.alter("UPDATE changes SET account_id = ? WHERE sequence = ?", other, sequence);
    expect(await faultOf()).toEqual({ sequence, id: null, kind: "missing" });
    expect(await faultOf(other)).toEqual(
      sequence === 1 ? { sequence: 1, id: rowAt(1).id, kind: "inserted" } : { sequence: 1, id: null, kind: "missing" },
    );
    await log.alter("DELETE FROM changes WHERE account_id = ?", other);
    expect(await faultOf()).toEqual({ sequence, id: null, kind: "missing" });
  });

  it("names the first of the entries that are gone: the beginning, the end, all", async () => {
    await log.alter("DELETE FROM changes WHERE sequence > 4");
    expect(await faultOf()).toEqual({ sequence: 5, id: null, kind: "missing" });
    await log.alter("DELETE FROM changes WHERE sequence < 3");
    expect(await faultOf()).toEqual({ sequence: 1, id: null, kind: "missing" });
    await log.alter("DELETE FROM changes");
    expect(await faultOf()).toEqual({ sequence: 1, id: null, kind: "missing" });
  });

  it("sees a tail that was cut off, also where the account's number was set back with it", async () => {
    await log.alter("DELETE FROM changes WHERE sequence = ?", ROWS);
    await log.alter("UPDATE accounts SET sequence = ? WHERE id = ?", ROWS - 1, log.accountId);
    expect(await faultOf()).toEqual({ sequence: ROWS - 1, id: rowAt(ROWS - 1).id, kind: "altered" });
  });

  it("names an entry that was deleted or inserted while the others were moved", async () => {
    await log.alter("DELETE FROM changes WHERE sequence = 3");
    for (const sequence of [4, 5, 6]) {
      await log.alter("UPDATE changes SET sequence = ? WHERE sequence = ?", sequence - 1, sequence);
    }
    await log.alter("UPDATE accounts SET sequence = 5 WHERE id = ?", log.accountId);
    expect(await faultOf()).toEqual({ sequence: 3, id: null, kind: "missing" });
  });

  it("names the first of two entries that changed places", async () => {
    for (const [from, to] of [
      [2, 99],
      [5, 2],
      [99, 5],
    ] as const) {
      await log.alter("UPDATE changes SET sequence = ? WHERE sequence = ?", to, from);
    }
    expect(await faultOf()).toEqual({ sequence: 2, id: rowAt(5).id, kind: "altered" });
  });

  it("names an entry inserted after the end, with a number below 1, or with a number that is none", async () => {
    const copyTo = (sequence: string) =>
      log.alter(
        `INSERT INTO changes (account_id, sequence, id, action, actor_json, target_json, occurred_at, context_json, previous_hash,
         hash) SELECT account_id, ${sequence}, id, action, actor_json, target_json, occurred_at, context_json, previous_hash,
         hash FROM changes WHERE sequence = 3`,
      );
    await copyTo("7");
    expect(await faultOf()).toEqual({ sequence: 7, id: rowAt(3).id, kind: "inserted" });
    await copyTo("0");
    expect(await faultOf()).toEqual({ sequence: 0, id: rowAt(3).id, kind: "inserted" });
    await log.alter("DELETE FROM changes WHERE sequence IN (0, 7)");
    if (ON_POSTGRES) return;
    await copyTo("'x'");
    expect((await log.check()).fault).not.toBeNull();
  });

  it("sees that the account's own number or hash was edited", async () => {
    await log.alter("UPDATE accounts SET changes_hash = ? WHERE id = ?", "1".repeat(64), log.accountId);
    expect(await faultOf()).toEqual({ sequence: ROWS, id: rowAt(ROWS).id, kind: "altered" });
    await log.alter("UPDATE accounts SET sequence = ? WHERE id = ?", ROWS + 1, log.accountId);
    expect(await faultOf()).toEqual({ sequence: ROWS + 1, id: null, kind: "missing" });
  });
});
