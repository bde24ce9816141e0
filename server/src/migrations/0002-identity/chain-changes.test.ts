import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { openSqlite } from "../../drivers/database/sqlite.ts";
import { openSnapshot } from "../../drivers/database/sqlite/snapshot.ts";
import { findChainEnds } from "../../features/audit/store.ts";
import { listChangesAfter } from "../../features/changes/store.ts";
import { noteChanges } from "../../features/changes/test-changes.ts";
import { verifyAccount } from "../../features/audit/verify.ts";
import { toAuditEvent } from "../../features/changes/events.ts";
import { foundation } from "../0001-foundation.ts";
import { ofEachTest } from "../../test-each.ts";
import { migrate } from "../migrate.ts";

const TIME = Date.UTC(2026, 0, 1);
const directory = ofEachTest(async () => ({ path: makeDirectory() }));
const path = () => join(directory.path, "coffer.sqlite");

beforeEach(async () => {
  await using database = await openSqlite({ path: path(), reserveBytes: 0 });
  await migrate(database, [foundation]);
});

/** An account as schema 1 held it; `actions` become its changes. */
function addAccount(actions: readonly { actor: string; target: string }[]): string {
  const accountId = randomUUID();
  using handle = new DatabaseSync(path());
  handle
    .prepare("INSERT INTO accounts VALUES (?, ?, 0, NULL, NULL, NULL, NULL, 'pro', ?, 0, 0, ?, ?, ?)")
    .run(accountId, `${accountId}@example.test`, randomUUID(), actions.length, TIME, TIME);
  handle.exec("BEGIN");
  const insert = handle.prepare("INSERT INTO changes VALUES (?, ?, ?, 'file.uploaded', ?, ?, ?)");
  for (const [index, { actor, target }] of actions.entries()) {
    insert.run(accountId, index + 1, randomUUID(), actor, target, TIME + index);
  }
  handle.exec("COMMIT");
  return accountId;
}

const keyId = randomUUID();
const chainAddress = `0x${"a".repeat(64)}`;
const byKey = {
  actor: JSON.stringify({ kind: "api-key", keyId, accessLevel: "agent", chainAddress }),
  target: JSON.stringify({ kind: "file", id: "f", vaultId: keyId }),
};
const bySystem = { actor: '{"kind":"system"}', target: '{"kind":"account","id":"a"}' };
const byDevelopment = {
  actor: JSON.stringify({ kind: "development", keyId: null, accessLevel: "owner", chainAddress: null }),
  target: bySystem.target,
};

async function verify(accountId: string) {
  using snapshot = openSnapshot(path());
  return await verifyAccount(snapshot, accountId);
}

describe("[D1-changes-audit] a log from before there was a chain", () => {
  it("is chained in place, each account by itself, and goes on from there", async () => {
    const many = addAccount(Array.from({ length: 1203 }, (_, index) => (index % 2 === 0 ? byKey : bySystem)));
    const few = addAccount([bySystem, byKey, byDevelopment]);
    const none = addAccount([]);
    await using database = await openSqlite({ path: path(), reserveBytes: 0 });
    await migrate(database);
    for (const [accountId, entries] of [
      [many, 1203],
      [few, 3],
      [none, 0],
    ] as const) {
      expect(await verify(accountId)).toMatchObject({ entries, fault: null, head: { sequence: entries } });
      const more = { action: "file.deleted", actor: null, target: { kind: "file", id: "f" }, occurredAt: TIME };
      await noteChanges(database, accountId, [more]);
      expect(await verify(accountId)).toMatchObject({ entries: entries + 1, fault: null });
    }
  });

  it("says the same as before: who, what and when", async () => {
    const accountId = addAccount([bySystem, byKey, byDevelopment]);
    await using database = await openSqlite({ path: path(), reserveBytes: 0 });
    await migrate(database);
    const events = (await listChangesAfter(database, { accountId, after: 0, limit: 500 })).map(toAuditEvent);
    expect(events.map(({ actor }) => actor)).toEqual([
      { type: "system", id: null, accessLevel: null, chainAddress: null },
      { type: "api-key", id: keyId, accessLevel: "agent", chainAddress },
      { type: "development", id: null, accessLevel: "owner", chainAddress: null },
    ]);
    expect(events.map(({ targets }) => targets)).toEqual([
      [{ type: "account", id: "a" }],
      [{ type: "file", id: "f", vaultId: keyId }],
      [{ type: "account", id: "a" }],
    ]);
    expect(events.map(({ occurredAt }) => occurredAt)).toEqual([
      "2026-01-01T00:00:00.000Z",
      "2026-01-01T00:00:00.001Z",
      "2026-01-01T00:00:00.002Z",
    ]);
    expect(events.every(({ context }) => Object.values(context).every((value) => value === null))).toBe(true);
  });

  it("is chained once: a second start changes nothing", async () => {
    const accountId = addAccount([bySystem, byKey]);
    await using database = await openSqlite({ path: path(), reserveBytes: 0 });
    await migrate(database);
    const ends = await findChainEnds(database, accountId);
    await migrate(database);
    expect(await findChainEnds(database, accountId)).toEqual(ends);
  });

  it("gets the very hashes that were decided at this step, whatever the contract renders later", async () => {
    using handle = new DatabaseSync(path());
    const accountId = "00000000-0000-4000-8000-000000000001";
    handle
      .prepare("INSERT INTO accounts VALUES (?, 'a@example.test', 0, NULL, NULL, NULL, NULL, 'pro', ?, 0, 0, 2, 0, 0)")
      .run(accountId, accountId);
    const insert = handle.prepare("INSERT INTO changes VALUES (?, ?, ?, 'file.uploaded', ?, ?, ?)");
    const actor = `{"kind":"api-key","keyId":"${accountId}","accessLevel":"owner","chainAddress":null}`;
    insert.run(accountId, 1, accountId, '{"kind":"system"}', '{"kind":"account","id":"a"}', TIME);
    insert.run(accountId, 2, accountId, actor, `{"kind":"file","id":"f","vaultId":"${accountId}"}`, TIME + 1);
    await using database = await openSqlite({ path: path(), reserveBytes: 0 });
    await migrate(database);
    const rows = await listChangesAfter(database, { accountId, after: 0, limit: 500 });
    expect(rows.map(({ hash }) => hash)).toMatchInlineSnapshot(`
      [
        "5c452f32aad095c475a5bb65b08413dd6b5b8932b1613a50b880574e684df00b",
        "aea9b558593e0389facfff252ccfae9b3cafc34bc1b899de8dbffe4984638a59",
      ]
    `);
  });
});
