/**
 * The chain on disk: one SQLite file in WAL mode, one transaction per change. So a process that is killed at any point
 * leaves the chain as it was before or after a change. One process holds the file alone: two chains on one file would
 * diverge.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readObject, type StoredObject } from "./objects.ts";

/** What a change writes. Everything or nothing. */
export interface ChainWrite {
  readonly written: readonly StoredObject[];
  readonly removed: readonly string[];
  /** A transaction's record, in protobuf. */
  readonly transaction: { readonly digest: string; readonly record: Uint8Array } | null;
  readonly facts: ChainFacts;
}

/** The little that a chain is besides its objects. */
export interface ChainFacts {
  /** Base58. */
  readonly chainId: string;
  readonly epoch: number;
  /** Time of the newest checkpoint. */
  readonly height: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface ChainStore {
  /** Null for a new chain. */
  readFacts(): ChainFacts | null;
  readObjects(): Map<string, StoredObject>;
  readTransaction(digest: string): Uint8Array | null;
  write(change: ChainWrite): void;
  close(): void;
}

const FILE = "chain.sqlite";
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS objects (id TEXT PRIMARY KEY, bcs BLOB NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS transactions (digest TEXT PRIMARY KEY, record BLOB NOT NULL) STRICT;
`;

/** Another process, or another chain of this one, holds the file. */
export class ChainInUseError extends Error {
  override readonly name = "ChainInUseError";
}

/** @throws ChainInUseError when another process has the chain open; Error when the file is not a chain's. */
export function openChainStore(directory: string | null): ChainStore {
  if (directory !== null) mkdirSync(directory, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(directory === null ? ":memory:" : join(directory, FILE));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    // Takes the lock now, and not with the first transaction.
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
  } catch (error) {
    database.close();
    const place = `The local chain in ${directory ?? "memory"}`;
    if (isBusy(error)) throw new ChainInUseError(`${place} is in use by another process`, { cause: error });
    throw new Error(`${place} cannot be opened; is it the file of a chain?`, { cause: error });
  }
  return new SqliteChainStore(database);
}

/** `SQLITE_BUSY`, the low byte of its extended codes as well (https://sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === 5;
}

class SqliteChainStore implements ChainStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  readFacts(): ChainFacts | null {
    const row = this.#database.prepare("SELECT value FROM facts WHERE name = 'chain'").get();
    return row === undefined ? null : (JSON.parse(String(row["value"])) as ChainFacts);
  }

  readObjects(): Map<string, StoredObject> {
    const rows = this.#database.prepare("SELECT bcs FROM objects").all();
    const objects = rows.map((row) => readObject(new Uint8Array(row["bcs"] as Uint8Array)));
    return new Map(objects.map((object) => [object.id, object]));
  }

  readTransaction(digest: string): Uint8Array | null {
    const row = this.#database.prepare("SELECT record FROM transactions WHERE digest = ?").get(digest);
    return row === undefined ? null : new Uint8Array(row["record"] as Uint8Array);
  }

  write({ written, removed, transaction, facts }: ChainWrite): void {
    const run = (sql: string, ...values: (string | Uint8Array)[]) => this.#database.prepare(sql).run(...values);
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const { id, bcs } of written) run("INSERT OR REPLACE INTO objects (id, bcs) VALUES (?, ?)", id, bcs);
      for (const id of removed) run("DELETE FROM objects WHERE id = ?", id);
      if (transaction !== null) {
        run("INSERT INTO transactions (digest, record) VALUES (?, ?)", transaction.digest, transaction.record);
      }
      run("INSERT OR REPLACE INTO facts (name, value) VALUES ('chain', ?)", JSON.stringify(facts));
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}
