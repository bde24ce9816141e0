/**
 * TEST ONLY: storage with the newest schema. One database is migrated in each process, and all others are copies of it. With
 * `COFFER_TEST_DATABASE=postgres` they are databases of a PostgreSQL of the run's own; blobs go to an S3 store with `COFFER_TEST_BLOBS=s3`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { settingsOf } from "../../test/kit/ceph/s3-settings.ts";
import { addressIn } from "../../test/kit/postgres/address.ts";
import { alterRows, databaseIn } from "../../test/kit/postgres/databases.ts";
import type { DatabaseConfig } from "./config.ts";
import { openMemoryBlobs } from "./drivers/blobs/memory.ts";
import { openS3Blobs } from "./drivers/blobs/s3.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database, DatabaseReader } from "./ports/database.ts";
import { openDatabase, readDatabase } from "./storage.ts";

export { openMemoryBlobs };

/** Whether the tests run on PostgreSQL. */
export const ON_POSTGRES = process.env["COFFER_TEST_DATABASE"] === "postgres";

let migrated: Promise<Uint8Array> | null = null;

/** Makes and opens the directory's database. One that is there is opened as another process has it. */
export async function openTestDatabase(
  directory: string,
  options: Parameters<typeof openDatabase>[1] = {},
): Promise<Database> {
  return openDatabase({ database: await testAddress(directory) }, options);
}

/** SQLite, whatever the tests run on: for what is about that engine alone. */
export async function openTestSqlite(directory: string): Promise<Database> {
  return openDatabase({ database: await sqliteAddress(directory) });
}

/** Where the directory's database is; with the newest schema, if it is new. */
export async function testAddress(directory: string): Promise<DatabaseConfig> {
  return ON_POSTGRES ? postgresOf(await databaseIn(directory)) : sqliteAddress(directory);
}

async function sqliteAddress(directory: string): Promise<DatabaseConfig> {
  const { path } = sqliteIn(directory);
  if (!existsSync(path)) writeFileSync(path, await (migrated ??= migrateOne()), { mode: 0o600 });
  return { kind: "sqlite", path };
}

/** The setting that leads an operator to the directory's database; nothing where it has none yet. */
export function knownEnvironment(directory: string): Record<string, string> {
  const url = addressIn(directory);
  return url === null ? {} : { SERVICE_DATABASE_URL: url };
}

export function readTestDatabase(directory: string): DatabaseReader {
  const url = addressIn(directory);
  return readDatabase({ database: url === null ? sqliteIn(directory) : postgresOf(url) });
}

/** In memory; with `COFFER_TEST_BLOBS=s3` in the run's S3 store, at a prefix of its own. */
export async function openTestBlobs(database: Database, clock: Clock): Promise<BlobStore> {
  if (process.env["COFFER_TEST_BLOBS"] !== "s3") return openMemoryBlobs({ clock });
  const { cephStore } = await import("../../test/kit/ceph/store.ts");
  return openS3Blobs({ settings: settingsOf(await cephStore()), database });
}

/** What somebody with the database and without the service can do, foreign keys aside. Write `?` for each value. */
export async function alterTestDatabase(
  directory: string,
  text: string,
  values: readonly (string | number)[] = [],
): Promise<void> {
  const url = addressIn(directory);
  if (url !== null) return alterRows(url, text, values).then(() => undefined);
  using handle = new DatabaseSync(sqliteIn(directory).path, { enableForeignKeyConstraints: false });
  handle.prepare(text).run(...values);
}

function sqliteIn(directory: string): { readonly kind: "sqlite"; readonly path: string } {
  return { kind: "sqlite", path: join(directory, "coffer.sqlite") };
}

function postgresOf(url: string): DatabaseConfig {
  return { kind: "postgres", url, directUrl: url, connections: 10, sessions: true };
}

async function migrateOne(): Promise<Uint8Array> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-migrated-"));
  try {
    const address = sqliteIn(directory);
    const database = await openDatabase({ database: address });
    // The last connection writes the log into the file.
    await database[Symbol.asyncDispose]();
    return readFileSync(address.path);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
