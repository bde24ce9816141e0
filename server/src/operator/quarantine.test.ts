import { utimesSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { allOf, inChunks } from "../../../test/kit/bytes.ts";
import { fileRow } from "../../../test/kit/rows.ts";
import { parseConfig } from "../config.ts";
import { openTestLog } from "../features/audit/log.test-kit.ts";
import type { DeletionReason } from "../ports/quarantine-tables.ts";
import { openBeside } from "../storage.ts";
import { knownEnvironment } from "../storage.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";
import { UsageError } from "./command.ts";
import { runAsked, runCommand } from "./operator.test-kit.ts";

const HOUR = 60 * 60_000;
const log = ofEachTest(openTestLog);
const run = (...words: string[]) => runCommand(log.directory, ...words);

const open = () =>
  openBeside(
    parseConfig({ SERVICE_ENV: "development", SERVICE_DATA_DIR: log.directory, ...knownEnvironment(log.directory) }),
  );

async function store(...keys: string[]): Promise<void> {
  await using storage = await open();
  for (const key of keys) await storage.blobs.put(key, inChunks(Buffer.from(key)));
}

async function stored(): Promise<string[]> {
  await using storage = await open();
  return (await allOf(storage.blobs.list())).map((blob) => blob.key).toSorted();
}

async function quarantine(key: string, reason: DeletionReason, accountId: string | null = null): Promise<void> {
  const row = {
    blob_key: key,
    reason,
    account_id: accountId,
    bytes: key.length,
    since: 0,
    ends: 24 * HOUR,
    deleting: 0,
  };
  await log.database.run(log.database.build.insertInto("blob_quarantine").values(row));
}

async function name(key: string): Promise<void> {
  const { database, accountId } = log;
  const account = await database.first(
    database.build.selectFrom("accounts").select("default_vault_id as vault").where("id", "=", accountId),
  );
  const row = fileRow({ account_id: accountId, vault_id: account?.vault ?? "", blob_key: key });
  await database.run(database.build.insertInto("files").values(row));
}

const ends = async () =>
  (await log.database.all(log.database.build.selectFrom("blob_quarantine").select("ends").orderBy("blob_key"))).map(
    (row) => row.ends,
  );

const actions = async () =>
  (await log.database.all(log.database.build.selectFrom("changes").select(["action", "actor_json"]))).map(
    ({ action, actor_json }) => [action, (JSON.parse(actor_json) as { type: string }).type],
  );

describe("coffer-server quarantine", () => {
  beforeEach(async () => {
    await store("content-1", "content-2", "content-3");
    await quarantine("content-1", "deleted", log.accountId);
    await quarantine("content-2", "orphan");
  });

  it("list shows what is to be deleted, why, and the hours that are left", async () => {
    const { out, note } = await run("quarantine", "list");
    expect(out).toMatch(/^content-1 +deleted +24 +9 +[0-9a-f-]{36}$/m);
    expect(note).toBe("deleted: 1 contents, 9 bytes\norphan: 1 contents, 9 bytes\n");
    const one = await run("quarantine", "list", "--reason", "orphan", "--json");
    expect(JSON.parse(one.out)).toMatchObject({ key: "content-2", reason: "orphan", accountId: null, hoursLeft: 24 });
    await expect(run("quarantine", "list", "--reason", "other")).rejects.toThrow(UsageError);
  });

  it("restore puts back what a row names, and keeps everything else until a purge", async () => {
    await name("content-1");
    const { status, note } = await run("quarantine", "restore", "--all");
    expect([status, note]).toEqual([0, "1 contents are put back, 1 are kept until quarantine purge\n"]);
    expect(await ends()).toEqual([null]);
    expect((await run("quarantine", "list")).out).toMatch(/^content-2 +orphan +kept/m);
    expect(await run("quarantine", "restore", "unknown-1")).toMatchObject({ status: 1 });
  });

  it("purge asks first, deletes, and the audit log names the operator", async () => {
    const words = ["quarantine", "purge", "--all"] as const;
    // Rows that name nothing are not paired with a store that has contents.
    await name("content-3");
    expect(await run(...words)).toMatchObject({ status: 1, note: expect.stringContaining("--yes") });
    expect(await runAsked(log.directory, "n", ...words)).toMatchObject({ status: 1, note: "Nothing was done\n" });
    expect(await stored()).toEqual(["content-1", "content-2", "content-3"]);
    expect(await actions()).toEqual([]);
    const { status, note } = await runAsked(log.directory, "y", ...words);
    expect([status, note]).toEqual([0, "Deleted 2 contents, put 0 back that rows name, 0 failed\n"]);
    expect(await stored()).toEqual(["content-3"]);
    expect(await actions()).toEqual([["quarantine.purged", "operator"]]);
    expect((await log.check()).fault).toBeNull();
    expect(await run(...words, "--yes")).toMatchObject({ status: 0 });
  });

  it("purge deletes nothing that a row names, and only what was said", async () => {
    await name("content-1");
    const { note } = await run("quarantine", "purge", "content-1", "--yes");
    expect(note).toBe("Deleted 0 contents, put 1 back that rows name, 0 failed\n");
    expect(await stored()).toEqual(["content-1", "content-2", "content-3"]);
    for (const words of [[], ["content-1", "--all"], ["--all", "--reason", "orphan"]])
      await expect(run("quarantine", "purge", ...words)).rejects.toThrow(UsageError);
  });
});

describe("coffer-server sweep", () => {
  it("--dry-run shows what no row names and touches nothing; without it an operator has it taken", async () => {
    const keys = Array.from({ length: 30 }, (_, at) => `content-${String(at)}`);
    await store(...keys);
    await name("content-0");
    for (const path of readdirSync(join(log.directory, "blobs", "blobs"), { recursive: true, withFileTypes: true }))
      if (path.isFile()) utimesSync(join(path.parentPath, path.name), 1, 1);
    const looked = await run("sweep", "--dry-run");
    expect(looked).toMatchObject({ status: 0, note: expect.stringContaining("too many contents have no row") });
    expect(looked.out).toContain("30 contents in the store, 1 of them named");
    expect(looked.out).toContain("29 that no row names");
    expect(await ends()).toEqual([]);
    expect(await run("sweep")).toMatchObject({ status: 1 });
    expect(await ends()).toEqual([]);
    expect(await run("sweep", "--yes")).toMatchObject({ status: 0 });
    expect(await ends()).toEqual(Array.from({ length: 29 }, () => 7 * 24 * HOUR));
    expect(await stored()).toHaveLength(30);
    expect((await run("sweep", "--dry-run")).out).toContain("0 that no row names");
  });
});
