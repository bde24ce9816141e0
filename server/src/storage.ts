/**
 * The one door to storage, for the server, the operator's commands and the tests' kits (test-storage.ts). Nobody else opens a
 * driver of databases or blobs (.dependency-cruiser.cjs), so what must be done at each opening is done here.
 */
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Config, type DatabaseConfig, placeOf, placeOfBlobs } from "./config.ts";
import { openDiskBlobs, readDiskBlobs } from "./drivers/blobs/disk.ts";
import { openS3Blobs, type S3BlobsOptions } from "./drivers/blobs/s3.ts";
import type { FileSystem } from "./drivers/blobs/disk/file-system.ts";
import { openPostgres } from "./drivers/database/postgres.ts";
import { openSqlite, type SqliteOptions } from "./drivers/database/sqlite.ts";
import { openSnapshot } from "./drivers/database/sqlite/snapshot.ts";
import { endClaims } from "./features/webhooks/delivery/queue-store.ts";
import { type AppliedMigration, findVersion, migrate, MIGRATIONS } from "./schema/migrate.ts";
import { enterProcess, isInUse, type ProcessEntry } from "./drivers/processes.ts";
import { type BlobStore, BlobStoreAwayError } from "./ports/blob-store.ts";
import { type Database, type DatabaseReader, DatabaseUnavailableError } from "./ports/database.ts";
import { type Clock, systemClock } from "./ports/clock.ts";
import { explainDatabase, explainDirectory } from "./storage-trouble.ts";
import { requireHere } from "./features/moving/state.ts";
import { requireOrigin } from "./features/origin/origin.ts";
import { type Paired, requirePair } from "./features/pairing/pairing.ts";
import { systemRandom } from "./ports/random.ts";
import type { OnStorageFault } from "./ports/storage-faults.ts";
import { releaseEnded } from "./ports/leases.ts";

export interface Storage extends Paired, AsyncDisposable {}

export interface StorageOptions extends OpenOptions {
  /** Tests put a double here. */
  readonly fileSystem?: FileSystem;
  /** Is told what the stores were found to be able to do. */
  readonly note?: S3BlobsOptions["log"];
  readonly clock?: Clock;
  /** What each part notices of itself outside of any request. */
  readonly onDatabaseFault?: OnStorageFault;
  readonly onBlobsFault?: OnStorageFault;
}

type Address = Pick<Config, "database">;

export interface OpenOptions {
  /** Is told of each step of the schema that the opening has taken. */
  readonly onMigration?: (migration: AppliedMigration & { readonly place: string }) => void;
}

/** All of a server's storage, with the newest schema: rows and contents that belong together. Rejects with nothing left open. */
export async function openStorage(
  config: Pick<Config, "mode" | "database" | "blobs" | "dataDirectory">,
  options: StorageOptions = {},
): Promise<Storage> {
  await using opened = new AsyncDisposableStack();
  const entry = opened.use(enter(config));
  const entered = systemClock.now();
  const { onDatabaseFault, onMigration } = options;
  const database = opened.use(
    await openMigrated(config.database, {
      ...(onMigration && { onMigration }),
      ...(onDatabaseFault && { onFault: onDatabaseFault }),
    }),
  );
  const blobs = opened.use(await openBlobs(config.blobs, database, options));
  // Nobody waits for what processes held that have ended. Other machines may use the same PostgreSQL, and this one cannot see theirs.
  if (entry.alone && config.database.kind === "sqlite") {
    await releaseEnded(database, entered);
    await endClaims(database, entered);
  }
  await requireHere(database);
  await requireOrigin(database, config);
  const places = placesOf(config);
  try {
    await requirePair({ database, blobs, places, clock: options.clock ?? systemClock, random: systemRandom });
  } catch (error) {
    // A server starts while its store is away: nothing is deleted before it was asked again.
    if (!(error instanceof BlobStoreAwayError)) throw error;
  }
  const all = opened.move();
  return { database, blobs, places, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Both halves beside a server that may be running on them, or where none starts: for operators. There must be a database. */
export async function openBeside(
  config: Pick<Config, "database" | "blobs">,
  options: OpenOptions = {},
): Promise<Paired & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await openExisting(config, options));
  await requireHere(database);
  const blobs = opened.use(await openBlobs(config.blobs, database, {}));
  const all = opened.move();
  return { database, blobs, places: placesOf(config), [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function placesOf({ database, blobs }: Pick<Config, "database" | "blobs">): Paired["places"] {
  return { rows: placeOf(database), contents: placeOfBlobs(blobs) };
}

/** Both halves, to move all data from or to, also where no server may start. */
export async function openForMove(
  config: Pick<Config, "database" | "blobs" | "dataDirectory">,
  options: OpenOptions = {},
): Promise<Pick<Storage, "database" | "blobs"> & { readonly alone: boolean } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const entry = opened.use(enter(config));
  const database = opened.use(await openMigrated(config.database, options));
  const blobs = opened.use(await openBlobs(config.blobs, database, {}));
  const all = opened.move();
  return { database, blobs, alone: entry.alone, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Files of a backup. Its layout is that of a data directory, and no server serves from it. */
const ROWS = "coffer.sqlite";
const CONTENTS = "blobs";

/** A new database for the rows of a backup, and a new store for its contents. The directory is for its owner alone. */
export async function createBackup(directory: string): Promise<Pick<Storage, "database" | "blobs"> & AsyncDisposable> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (readdirSync(directory).length > 0) throw new Error(`${directory} is not empty: name a new directory`);
  await using opened = new AsyncDisposableStack();
  const config = { kind: "sqlite", path: join(directory, ROWS) } as const;
  const database = opened.use(await openMigrated(config, { reserveBytes: 0 }));
  const blobs = opened.use(await openDiskBlobs({ directory: join(directory, CONTENTS) }));
  const all = opened.move();
  return { database, blobs, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

export async function digestBackup(directory: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(join(directory, ROWS)) as AsyncIterable<Buffer>) digest.update(chunk);
  return digest.digest("hex");
}

/** The rows of a backup with the newest schema, in a copy that goes with it, and its contents, which are only read. */
export async function openBackup(
  directory: string,
  { rowsSha256, scratch, ...options }: { readonly rowsSha256: string; readonly scratch: string } & OpenOptions,
): Promise<{ readonly rows: Database; readonly contents: Pick<BlobStore, "open"> } & AsyncDisposable> {
  if ((await digestBackup(directory)) !== rowsSha256)
    throw new Error(`${join(directory, ROWS)} is not what the backup wrote: take another copy of it`);
  await using opened = new AsyncDisposableStack();
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const own = mkdtempSync(join(scratch, "restore-"));
  opened.defer(() => rmSync(own, { recursive: true, force: true }));
  const path = join(own, ROWS);
  await pipeline(createReadStream(join(directory, ROWS)), createWriteStream(path, { mode: 0o600 }));
  const rows = opened.use(await openMigrated({ kind: "sqlite", path }, { reserveBytes: 0, ...options }));
  const all = opened.move();
  const contents = readDiskBlobs(join(directory, CONTENTS));
  return { rows, contents, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Contents of a store that another service has, or had: nothing is written there. */
export async function openContents(
  config: Config["blobs"],
  database: Database,
): Promise<Pick<BlobStore, "open" | "openDeleted"> & AsyncDisposable> {
  if (config.kind === "s3") return openBlobs(config, database, {});
  return { ...readDiskBlobs(config.directory), [Symbol.asyncDispose]: () => Promise.resolve() };
}

function enter({ dataDirectory }: Pick<Config, "dataDirectory">): ProcessEntry {
  try {
    return enterProcess(processesOf(dataDirectory));
  } catch (error) {
    throw explainDirectory(error, dataDirectory);
  }
}

/** Whether a server runs on the data. Of a PostgreSQL nobody can say: its servers may be on other machines. */
export function isServed({ database, dataDirectory }: Pick<Config, "database" | "dataDirectory">): boolean {
  return database.kind === "postgres" || isInUse(processesOf(dataDirectory));
}

const processesOf = (dataDirectory: string): string => join(dataDirectory, "blobs", "processes");

function openBlobs(config: Config["blobs"], database: Database, options: StorageOptions): Promise<BlobStore> {
  const { note, fileSystem, onBlobsFault } = options;
  if (config.kind === "disk")
    return openDiskBlobs({
      ...config,
      ...(fileSystem && { fileSystem }),
      ...(onBlobsFault && { onFault: onBlobsFault }),
    });
  const { caFile, ...settings } = config;
  const trust = caFile === null ? null : readFileSync(caFile, "utf8");
  return Promise.resolve(
    openS3Blobs({
      settings: { ...settings, trust },
      database,
      ...(note && { log: note }),
      ...(onBlobsFault && { onFault: onBlobsFault }),
    }),
  );
}

/**
 * Rejects when a store that is elsewhere does not serve, with what to do. A directory is made where it is missing, and a bucket is not: its
 * region, encryption and versions are its owner's to choose.
 */
export async function requireStore(config: Config["blobs"], database: Database): Promise<void> {
  if (config.kind === "disk") return;
  await using blobs = await openBlobs(config, database, {});
  await blobs.ping();
}

/** The database alone, beside a server that may be running on it: the reserve for a full disk is the server's. */
export function openDatabase(
  { database }: Address,
  options: Pick<SqliteOptions, "busyAttempts"> & OpenOptions = {},
): Promise<Database> {
  return openMigrated(database, { ...options, reserveBytes: 0 });
}

/** The database that is there: to look for something makes none to look in. */
export async function openExisting(config: Address, options: OpenOptions = {}): Promise<Database> {
  if (await hasDatabase(config)) return openDatabase(config, options);
  const setting = config.database.kind === "sqlite" ? "SERVICE_DATA_DIR" : "SERVICE_DATABASE_URL";
  throw new Error(
    `there is no database ${placeOf(config.database)}. A server makes it when it first starts; if one runs, check ${setting} or name its settings with --env-file`,
  );
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

async function openMigrated(
  config: DatabaseConfig,
  { onMigration, ...options }: Omit<SqliteOptions, "path"> & OpenOptions,
): Promise<Database> {
  await using opened = new AsyncDisposableStack();
  const isSqlite = config.kind === "sqlite";
  const { onFault } = options;
  try {
    const database = opened.use(
      isSqlite
        ? await openSqlite({ ...options, path: config.path })
        : openPostgres({ ...config, ...(onFault && { onFault }) }),
    );
    await migrate(database, MIGRATIONS, (migration) => onMigration?.({ ...migration, place: placeOf(config) }));
    opened.move();
    return database;
  } catch (error) {
    throw explainDatabase(error, config);
  }
}
