/** TEST ONLY: storage with the newest schema. One database is migrated in each process, and all others are copies of it. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, DatabaseReader } from "./ports/database.ts";
import { openDatabase, readDatabase } from "./storage.ts";

export { openMemoryBlobs } from "./drivers/blobs/memory.ts";

let migrated: Promise<Uint8Array> | null = null;

/** Makes and opens the directory's database. One that is there is opened as another process has it. */
export async function openTestDatabase(
  directory: string,
  options: Parameters<typeof openDatabase>[1] = {},
): Promise<Database> {
  const address = addressIn(directory);
  const { path } = address.database;
  if (!existsSync(path)) writeFileSync(path, await (migrated ??= migrateOne()), { mode: 0o600 });
  return openDatabase(address, options);
}

export function readTestDatabase(directory: string): DatabaseReader {
  return readDatabase(addressIn(directory));
}

function addressIn(directory: string): Parameters<typeof openDatabase>[0] {
  return { database: { kind: "sqlite", path: join(directory, "coffer.sqlite") } };
}

async function migrateOne(): Promise<Uint8Array> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-migrated-"));
  try {
    const address = addressIn(directory);
    const database = await openDatabase(address);
    // The last connection writes the log into the file.
    await database[Symbol.asyncDispose]();
    return readFileSync(address.database.path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
