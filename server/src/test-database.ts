/** TEST ONLY: databases with the newest schema. One is migrated in each process, and all others are copies of it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "./drivers/database/sqlite.ts";
import { migrate } from "./migrations/migrate.ts";
import type { Database } from "./ports/database.ts";

let migrated: Promise<Uint8Array> | null = null;

/** Makes and opens `coffer.sqlite` in the directory. */
export async function openTestDatabase(directory: string): Promise<Database> {
  const path = join(directory, "coffer.sqlite");
  writeFileSync(path, await (migrated ??= migrateOne()), { mode: 0o600 });
  return openSqlite({ path, reserveBytes: 0 });
}

async function migrateOne(): Promise<Uint8Array> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-migrated-"));
  try {
    const path = join(directory, "coffer.sqlite");
    const database = await openSqlite({ path, reserveBytes: 0 });
    await migrate(database);
    // The last connection writes the log into the file.
    await database[Symbol.asyncDispose]();
    return readFileSync(path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
