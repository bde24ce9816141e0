import { execFile } from "node:child_process";
import { chmod, mkdir, open, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { accountRow, insertAccount, vaultRow } from "../../../../../test/kit/rows.ts";
import { migrate } from "../../../schema/migrate.ts";
import { type Database, DatabaseFullError, DatabaseUnavailableError, prepared } from "../../../ports/database.ts";
import type { StorageFault } from "../../../ports/storage-faults.ts";
import { openSqlite } from "../sqlite.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;

const directory = ofEachTest(async () => ({ path: makeDirectory() }));

const file = () => join(directory.path, "coffer.db");

describe("SQLite", () => {
  it("refuses a file that is no database", async () => {
    await writeFile(file(), "not a database, but long enough to look like the head of one, or so it seems");
    await expect(openSqlite({ path: file() })).rejects.toThrow(DatabaseUnavailableError);
  });

  it("gives up on another process's lock after its attempts, and works once the lock is gone", async () => {
    await using database = await openSqlite({ path: file(), reserveBytes: 0, busyAttempts: 3 });
    await migrate(database);
    const other = new DatabaseSync(file());
    other.exec("BEGIN IMMEDIATE");
    const failure: unknown = await database.transaction(insertAccount).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailableError);
    expect(failure).toMatchObject({ busy: true });
    await expect(database.ping()).resolves.toBeUndefined();
    other.exec("COMMIT");
    other.close();
    await database.transaction(insertAccount);
  });

  it("keeps every file of the database from other users, also in a directory that they can read", async () => {
    await chmod(directory.path, 0o755);
    await using database = await openSqlite({ path: file(), reserveBytes: 4096 });
    await migrate(database);
    await insertAccount(database);
    for (const suffix of ["", "-wal", "-shm", "-reserve"])
      expect(((await stat(file() + suffix)).mode & 0o777).toString(8), suffix).toBe("600");
  });

  it("says that a file which cannot be made makes the database unavailable", async () => {
    await mkdir(file());
    await expect(openSqlite({ path: file() })).rejects.toThrow(DatabaseUnavailableError);
  });

  it("survives more different statements than it keeps", async () => {
    await using database = await openSqlite({ path: file(), reserveBytes: 0 });
    await migrate(database);
    await insertAccount(database);
    for (let count = 1; count < 700; count += 1) {
      const emails = Array.from({ length: count }, (_, index) => String(index));
      expect(
        await database.all(database.build.selectFrom("accounts").select("id").where("email", "in", emails)),
      ).toEqual([]);
    }
  });

  it("flushes every commit (WAL, synchronous FULL) and enforces foreign keys", async () => {
    await using database = await openSqlite({ path: file(), reserveBytes: 0 });
    await migrate(database);
    const other = new DatabaseSync(file());
    expect({ ...other.prepare("PRAGMA journal_mode").get() }).toEqual({ journal_mode: "wal" });
    other.close();
    const orphan = database.build.insertInto("vaults").values(vaultRow({ account_id: "none" }));
    await expect(database.run(orphan)).rejects.toThrow("FOREIGN KEY");
  });
});

describe("SQLite on a full disk", () => {
  it("reads, refuses to grow, and deletes by means of its reserve", async (context) => {
    const mounted = await mountSmall(directory.path);
    if (mounted !== null) return context.skip(`no small file system can be mounted here (${mounted})`);
    try {
      const faults: StorageFault[] = [];
      const onFault = (fault: StorageFault): void => void faults.push(fault);
      await using database = await openSqlite({ path: file(), reserveBytes: 2 * MIB, onFault });
      await migrate(database);
      await insertAccount(database);
      expect(faults).toEqual([]);
      await fillUp(database);
      // The log and readiness say it from then on [issue 51].
      expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["full"]));
      expect((await database.diskRoom())?.freeBytes).toBeLessThan(64 * 1024);
      expect(await database.first(database.build.selectFrom("accounts").select("id"))).not.toBeNull();
      await expect(database.transaction(removeVaults)).rejects.toThrow(DatabaseFullError);
      expect((await stat(`${file()}-reserve`)).size).toBe(2 * MIB);
      expect(await database.transaction(removeVaults, { freesSpace: true })).toBe(1);
      await expect(stat(`${file()}-reserve`)).rejects.toThrow("ENOENT");
      expect(await database.all(database.build.selectFrom("vaults").select("id"))).toEqual([]);
      await truncate(join(directory.path, "ballast"), 0);
      await database.run(database.build.insertInto("accounts").values(accountRow()));
      await (await openSqlite({ path: file(), reserveBytes: 2 * MIB }))[Symbol.asyncDispose]();
      expect((await stat(`${file()}-reserve`)).size).toBe(2 * MIB);
    } finally {
      await run("umount", [directory.path]);
    }
  });
});

describe("SQLite with a damaged page", () => {
  it("ends what meets it as unavailable, tells who watches, and throws nowhere else", async () => {
    const faults: StorageFault[] = [];
    await (await filled())[Symbol.asyncDispose]();
    const damagedPages = await damageLeaves("vaults");
    expect(damagedPages).toBeGreaterThan(3);
    await using database = await openSqlite({
      path: file(),
      reserveBytes: 0,
      onFault: (fault) => void faults.push(fault),
    });
    const onArrival = prepared(
      (build, value: { id: string }) => build.selectFrom("vaults").selectAll().where("id", "=", value.id),
      {
        onArrival: true,
      },
    );
    for (let times = 0; times < 3; times += 1) {
      await expect(database.all(database.build.selectFrom("vaults").selectAll())).rejects.toThrow(
        DatabaseUnavailableError,
      );
      await expect(database.first(onArrival(database, { id: "vault-150" }))).rejects.toThrow(DatabaseUnavailableError);
      // The end of the snapshot comes with the turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      const reading = database.snapshot((queries) => queries.all(queries.build.selectFrom("vaults").selectAll()));
      await expect(reading).rejects.toThrow(DatabaseUnavailableError);
      const removing = database.transaction((queries) => queries.run(queries.build.deleteFrom("vaults")));
      await expect(removing).rejects.toThrow(DatabaseUnavailableError);
      // An act that does not meet it is committed, and answered so.
      await database.transaction((queries) => queries.run(queries.build.insertInto("accounts").values(accountRow())));
    }
    expect(await database.all(database.build.selectFrom("accounts").select("id"))).toHaveLength(4);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(["damaged"]));
    const [damage] = faults;
    if (damage?.kind !== "damaged") throw new Error("no damage was reported");
    expect(damage).toMatchObject({ file: file(), query: 'select * from "vaults"' });
    expect((await damage.examine?.())?.join("\n")).toMatch(/Tree \d+ page \d+/);
  });
});

describe("SQLite whose file is not there any more", () => {
  it("writes nothing until the same file is back, and nothing into another one", async () => {
    const faults: StorageFault[] = [];
    await using database = await openSqlite({
      path: file(),
      reserveBytes: 0,
      onFault: (fault) => void faults.push(fault),
    });
    await migrate(database);
    const writes = [
      () => database.transaction(insertAccount),
      () => database.run(database.build.insertInto("accounts").values(accountRow())),
      () => database.snapshot((queries) => queries.all(queries.build.selectFrom("accounts").select("id"))),
      () => database.ping(),
    ];
    await rename(file(), `${file()}.away`);
    for (const write of writes)
      await expect(write()).rejects.toMatchObject({ name: "DatabaseUnavailableError", known: true });
    await writeFile(file(), "");
    for (const write of writes) await expect(write()).rejects.toThrow(DatabaseUnavailableError);
    expect(faults).toHaveLength(1);
    await rename(`${file()}.away`, file());
    for (const write of writes) await write();
    expect(await database.all(database.build.selectFrom("accounts").select("id"))).toHaveLength(2);
  });
});

/** Closed, it is in the file alone, without a log. */
async function filled(): Promise<Database> {
  const database = await openSqlite({ path: file(), reserveBytes: 0 });
  await migrate(database);
  const { accountId } = await insertAccount(database);
  for (let at = 0; at < 300; at += 1)
    await database.run(
      database.build
        .insertInto("vaults")
        .values(
          vaultRow({ id: `vault-${String(at)}`, account_id: accountId, name: `${"n".repeat(100)}${String(at)}` }),
        ),
    );
  return database;
}

/** Writes over the heads of all but the first leaf; how many. */
async function damageLeaves(table: string): Promise<number> {
  const reader = new DatabaseSync(file(), { readOnly: true });
  const query = reader.prepare("select pageno from dbstat where name = ? and pagetype = 'leaf' order by pageno");
  const pages = query.all(table).map(({ pageno }) => Number(pageno));
  reader.close();
  const handle = await open(file(), "r+");
  for (const page of pages.slice(1)) await handle.write(Buffer.alloc(64, 0xa7), 0, 64, (page - 1) * 4096);
  await handle.close();
  return pages.length - 1;
}

function removeVaults(queries: Pick<Database, "run" | "build">): Promise<number> {
  return queries.run(queries.build.deleteFrom("vaults"));
}

/** First what is free, then what SQLite still finds inside its own files. */
async function fillUp(database: Database): Promise<void> {
  await writeFile(join(directory.path, "ballast"), Buffer.alloc(16 * MIB)).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "ENOSPC" });
  });
  for (;;) {
    try {
      await database.run(database.build.insertInto("accounts").values(accountRow({ name: "x".repeat(2000) })));
    } catch (error) {
      expect(error).toBeInstanceOf(DatabaseFullError);
      return;
    }
  }
}

/** Mounts a tmpfs; answers why not where that is not allowed. */
async function mountSmall(path: string): Promise<string | null> {
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", path]);
    return null;
  } catch (error) {
    return error instanceof Error ? (error.message.split("\n").at(-2) ?? error.message) : String(error);
  }
}
