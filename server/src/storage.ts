/**
 * The one door to storage, for the server, the operator's commands and the tests' kits (test-storage.ts). Nobody else opens a
 * driver of databases or blobs (.dependency-cruiser.cjs), so what must be done at each opening is done here.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, type DatabaseConfig, placeOf } from "./config.ts";
import { openDiskBlobs } from "./drivers/blobs/disk.ts";
import { openS3Blobs, type S3BlobsOptions } from "./drivers/blobs/s3.ts";
import type { FileSystem } from "./drivers/blobs/disk/file-system.ts";
import { openPostgres } from "./drivers/database/postgres.ts";
import { openSqlite, type SqliteOptions } from "./drivers/database/sqlite.ts";
import { openSnapshot } from "./drivers/database/sqlite/snapshot.ts";
import { endClaims } from "./features/webhooks/delivery/queue-store.ts";
import { findVersion, migrate } from "./migrations/migrate.ts";
import { enterProcess, type ProcessEntry } from "./drivers/processes.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import { type Database, type DatabaseReader, DatabaseUnavailableError } from "./ports/database.ts";
import { systemClock } from "./ports/clock.ts";
import { explainDatabase, explainDirectory } from "./storage-trouble.ts";
import { requireHere } from "./features/moving/state.ts";
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
  /** Is told what the stores were found to be able to do. */
  readonly note?: S3BlobsOptions["note"];
}

type Address = Pick<Config, "database">;

/** All of a server's storage, with the newest schema. Rejects with nothing left open. */
export async function openStorage(
  config: Pick<Config, "database" | "blobs" | "dataDirectory">,
  options: StorageOptions = {},
): Promise<Storage> {
  await using opened = new AsyncDisposableStack();
  const entry = opened.use(enter(config));
  // Other machines may use the same PostgreSQL, and this one cannot see their processes.
  const aloneSince = entry.alone && config.database.kind === "sqlite" ? systemClock.now() : null;
  const database = opened.use(await openMigrated(config.database, {}));
  const blobs = opened.use(await openBlobs(config.blobs, database, options));
  if (aloneSince !== null) {
    await releaseEnded(database, aloneSince);
    await endClaims(database, aloneSince);
  }
  await requireHere(database);
  const all = opened.move();
  return { database, blobs, aloneSince, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Both halves, to move all data from or to, also where no server may start. */
export async function openForMove(
  config: Pick<Config, "database" | "blobs" | "dataDirectory">,
): Promise<Pick<Storage, "database" | "blobs"> & { readonly alone: boolean } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const entry = opened.use(enter(config));
  const database = opened.use(await openMigrated(config.database, {}));
  const blobs = opened.use(await openBlobs(config.blobs, database, {}));
  const all = opened.move();
  return { database, blobs, alone: entry.alone, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function enter({ dataDirectory }: Pick<Config, "dataDirectory">): ProcessEntry {
  try {
    return enterProcess(join(dataDirectory, "blobs", "processes"));
  } catch (error) {
    throw explainDirectory(error, dataDirectory);
  }
}

function openBlobs(config: Config["blobs"], database: Database, options: StorageOptions): Promise<BlobStore> {
  if (config.kind === "disk") return openDiskBlobs({ ...config, ...options });
  const { note } = options;
  const { caFile, ...settings } = config;
  const trust = caFile === null ? null : readFileSync(caFile, "utf8");
  return Promise.resolve(openS3Blobs({ settings: { ...settings, trust }, database, ...(note && { note }) }));
}

/** The database alone, beside a server that may be running on it: the reserve for a full disk is the server's. */
export function openDatabase(
  { database }: Address,
  options: Pick<SqliteOptions, "busyAttempts"> = {},
): Promise<Database> {
  return openMigrated(database, { ...options, reserveBytes: 0 });
}

/** The database that is there: to look for something makes none to look in. */
export async function openExisting(config: Address): Promise<Database> {
  if (await hasDatabase(config)) return openDatabase(config);
  const setting = config.database.kind === "sqlite" ? "SERVICE_DATA_DIR" : "SERVICE_DATABASE_URL";
  throw new Error(`there is no database ${placeOf(config.database)}, check ${setting}`);
}

export async function hasDatabase(config: Address): Promise<boolean> {
  if (config.database.kind === "sqlite") return existsSync(config.database.path);
  await using database = readDatabase(config);
  try {
    await database.snapshot(findVersion);
    return true;
  } catch (error) {
    const explained = explainDatabase(error, config.database);
    if (explained instanceof DatabaseUnavailableError) throw explained;
    return false;
  }
}

/**
 * The database as it is, whatever its schema: nothing is written.
 * @throws DatabaseUnavailableError when there is none, or it cannot be opened.
 */
export function readDatabase({ database }: Address): DatabaseReader {
  if (database.kind === "postgres") return openPostgres(database);
  const state = openSnapshot(database.path);
  return {
    async snapshot(work) {
      try {
        return await work(state);
      } finally {
        // Held, it would keep a running server from shortening its write-ahead log.
        state.renew();
      }
    },
    async [Symbol.asyncDispose]() {
      state[Symbol.dispose]();
    },
  };
}

async function openMigrated(config: DatabaseConfig, options: Omit<SqliteOptions, "path">): Promise<Database> {
  await using opened = new AsyncDisposableStack();
  const isSqlite = config.kind === "sqlite";
  try {
    const database = opened.use(isSqlite ? await openSqlite({ ...options, path: config.path }) : openPostgres(config));
    await migrate(database);
    opened.move();
    return database;
  } catch (error) {
    throw explainDatabase(error, config);
  }
}
