/**
 * TEST ONLY: storage with the newest schema. One database is migrated in each process, and all others are copies of it. With
 * `COFFER_TEST_DATABASE=postgres` they are databases of a PostgreSQL of the run's own.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { alterRows, createDatabase, type OwnDatabase } from "../../test/kit/postgres/databases.ts";
import type { DatabaseConfig } from "./config.ts";
import type { Database, DatabaseReader } from "./ports/database.ts";
import { openDatabase, readDatabase } from "./storage.ts";

export { openMemoryBlobs } from "./drivers/blobs/memory.ts";

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

/** Where the directory's database is; with the newest schema, if it is new. */
export async function testAddress(directory: string): Promise<DatabaseConfig> {
  if (ON_POSTGRES) return postgresIn(directory);
  const { path } = sqliteIn(directory);
  if (!existsSync(path)) writeFileSync(path, await (migrated ??= migrateOne()), { mode: 0o600 });
  return { kind: "sqlite", path };
}

/** The setting that leads a server to the directory's database. */
export function testEnvironment(directory: string): Promise<Record<string, string>> {
  return testAddress(directory).then((database) =>
    database.kind === "sqlite" ? {} : { SERVICE_DATABASE_URL: database.url },
  );
}

/** The same, and nothing where the directory has no database yet. */
export function knownEnvironment(directory: string): Record<string, string> {
  const file = addressFile(directory);
  return ON_POSTGRES && existsSync(file) ? { SERVICE_DATABASE_URL: readFileSync(file, "utf8") } : {};
}

export function readTestDatabase(directory: string): DatabaseReader {
  return readDatabase({
    database: ON_POSTGRES ? postgresOf(readFileSync(addressFile(directory), "utf8")) : sqliteIn(directory),
  });
}

/** What somebody with the database and without the service can do, foreign keys aside. Write `?` for each value. */
export async function alterTestDatabase(
  directory: string,
  text: string,
  values: readonly (string | number)[] = [],
): Promise<void> {
  if (ON_POSTGRES) return alterRows(readFileSync(addressFile(directory), "utf8"), text, values);
  using handle = new DatabaseSync(sqliteIn(directory).path, { enableForeignKeyConstraints: false });
  handle.prepare(text).run(...values);
}

function sqliteIn(directory: string): { readonly kind: "sqlite"; readonly path: string } {
  return { kind: "sqlite", path: join(directory, "coffer.sqlite") };
}

const addressFile = (directory: string): string => join(directory, "postgres-address");
/** Those of this process, with their directories: when a directory is gone, nobody needs its database. */
const made = new Map<string, OwnDatabase>();

async function postgresIn(directory: string): Promise<DatabaseConfig> {
  const file = addressFile(directory);
  if (!existsSync(file)) {
    for (const [of, database] of made) {
      if (existsSync(addressFile(of))) continue;
      made.delete(of);
      await database[Symbol.asyncDispose]();
    }
    const database = await createDatabase("migrated");
    made.set(directory, database);
    writeFileSync(file, database.url);
  }
  return postgresOf(readFileSync(file, "utf8"));
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
