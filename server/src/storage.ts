/**
 * The one door to storage, for the server, the operator's commands and the tests' kits (test-storage.ts). Nobody else opens a
 * driver of databases or blobs (.dependency-cruiser.cjs), so what must be done at each opening is done here.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { openDiskBlobs } from "./drivers/blobs/disk.ts";
import type { FileSystem } from "./drivers/blobs/disk/file-system.ts";
import { openSqlite, type SqliteOptions } from "./drivers/database/sqlite.ts";
import { openSnapshot } from "./drivers/database/sqlite/snapshot.ts";
import { endClaims } from "./features/webhooks/delivery/queue-store.ts";
import { migrate } from "./migrations/migrate.ts";
import { enterProcess } from "./drivers/processes.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Database, DatabaseReader } from "./ports/database.ts";
import { systemClock } from "./ports/clock.ts";
import { releaseEnded } from "./ports/leases.ts";

export interface Storage extends AsyncDisposable {
  readonly database: Database;
  readonly blobs: BlobStore;
  /**
   * When it was opened by a process that had the data directory to itself. Everything older that is not in the rows
   * was left by a process that has ended. Its holds are released then, so nobody waits for them. null: others were
   * there, or may have been; their leases run out.
   */
  readonly aloneSince: number | null;
}

export interface StorageOptions {
  /** Tests put a double here. */
  readonly fileSystem?: FileSystem;
}

type Address = Pick<Config, "database">;

/** All of a server's storage, with the newest schema. Rejects with nothing left open. */
export async function openStorage(
  config: Pick<Config, "database" | "blobs">,
  options: StorageOptions = {},
): Promise<Storage> {
  await using opened = new AsyncDisposableStack();
  const entry = opened.use(enterProcess(join(config.blobs.directory, "processes")));
  const aloneSince = entry.alone ? systemClock.now() : null;
  const database = opened.use(await openMigrated({ path: config.database.path }));
  const blobs = opened.use(await openDiskBlobs({ ...config.blobs, ...options }));
  if (aloneSince !== null) {
    await releaseEnded(database, aloneSince);
    await endClaims(database, aloneSince);
  }
  const all = opened.move();
  return { database, blobs, aloneSince, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The database alone, beside a server that may be running on it: the reserve for a full disk is the server's. */
export function openDatabase(
  { database: { path } }: Address,
  options: Pick<SqliteOptions, "busyAttempts"> = {},
): Promise<Database> {
  return openMigrated({ ...options, path, reserveBytes: 0 });
}

/** The database that is there: to look for something makes none to look in. */
export async function openExisting(config: Address): Promise<Database> {
  if (!hasDatabase(config)) {
    throw new Error(`there is no database ${config.database.path}, check SERVICE_DATA_DIR`);
  }
  return openDatabase(config);
}

export function hasDatabase({ database: { path } }: Address): boolean {
  return existsSync(path);
}

/**
 * The database as it is, whatever its schema: nothing is written.
 * @throws DatabaseUnavailableError when there is none, or it cannot be opened.
 */
export function readDatabase({ database: { path } }: Address): DatabaseReader {
  const state = openSnapshot(path);
  return {
    async snapshot(work) {
      try {
        return await work(state);
      } finally {
        // Held, it would keep a running server from shortening its write-ahead log.
        state.renew();
      }
    },
    [Symbol.dispose]: () => state[Symbol.dispose](),
  };
}

async function openMigrated(options: SqliteOptions): Promise<Database> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await openSqlite(options));
  await migrate(database);
  opened.move();
  return database;
}
