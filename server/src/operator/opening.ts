/** The server's database, beside a server that may be running on it. */
import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import { openSqlite } from "../drivers/database/sqlite.ts";
import { migrate } from "../migrations/migrate.ts";
import type { Database } from "../ports/database.ts";

/** The database that is there: to look for something makes none to look in. */
export async function openExisting(config: Config): Promise<Database> {
  const { path } = config.database;
  if (!existsSync(path)) throw new Error(`there is no database ${path}, check SERVICE_DATA_DIR`);
  return open(config);
}

/** The reserve for a full disk is the server's; a second process must not touch it. */
export async function open({ database: { path } }: Config): Promise<Database> {
  const database = await openSqlite({ path, reserveBytes: 0 });
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}
