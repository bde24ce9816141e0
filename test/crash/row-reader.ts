/** The rows of a service, read beside its processes: of the SQLite in its directory, or of the PostgreSQL that its directory names. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "pg";
import { addressIn } from "../kit/postgres/address.ts";

export type Row = Readonly<Record<string, string | number | null>>;

export interface RowReader extends AsyncDisposable {
  /** Values stand as `?` in the query. */
  all(query: string, ...values: readonly (string | number)[]): Promise<Row[]>;
  /** Resolves when what a killed process had asked for is over at the engine, too. */
  settle(): Promise<void>;
  /** What the engine itself finds wrong. */
  check(): Promise<void>;
}

export function openRowReader(directory: string): RowReader {
  const url = addressIn(directory);
  return url === null ? readSqlite(join(directory, "coffer.sqlite")) : readPostgres(url);
}

function readSqlite(path: string): RowReader {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  return {
    all: (query, ...values) => Promise.resolve(database.prepare(query).all(...values) as Row[]),
    settle: () => Promise.resolve(),
    async check() {
      const check = database.prepare("pragma integrity_check").get();
      if (check?.["integrity_check"] !== "ok") throw new Error(`integrity_check: ${JSON.stringify(check)}`);
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

/** A statement that came before its process was killed goes on for so long at most. */
const LONGEST_STATEMENT = 300;
/** The engine may be on its way back. */
const ATTEMPTS = 100;

function readPostgres(url: string): RowReader {
  const pool = new Pool({ connectionString: url, max: 4 });
  pool.on("error", () => undefined);
  const all: RowReader["all"] = async (query, ...values) => {
    let number = 0;
    const text = query.replaceAll("?", () => `$${String((number += 1))}`);
    for (let left = ATTEMPTS; ; left -= 1) {
      try {
        return (await pool.query<Row>(text, [...values])).rows;
      } catch (error) {
        if (left === 0) throw error;
        await pause(100);
      }
    }
  };
  return {
    all,
    settle: () => pause(LONGEST_STATEMENT),
    check: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
