/** TEST ONLY: the rows that statements write, noted by temporary triggers of one connection, and written again. */
import { type Kysely, sql } from "kysely";
import { ConstraintError } from "../../ports/database.ts";
import type { Tables } from "../../ports/tables.ts";
import type { SqliteConnection } from "./sqlite/connection.ts";

/** A row as a statement left it; null: deleted. */
export interface WrittenRow {
  readonly table: string;
  readonly key: string;
  readonly row: string | null;
}

export class WrittenRows {
  readonly #connection: SqliteConnection;
  readonly #build: Kysely<Tables>;
  readonly #writes = new Map<string, { readonly put: string; readonly remove: string }>();

  constructor(connection: SqliteConnection, build: Kysely<Tables>) {
    this.#connection = connection;
    this.#build = build;
    this.#run(`create temp table written (place integer primary key, "table" text, key text, row text)`);
    // A virtual table takes no triggers: the index of names is rolled back with its transaction, and not written again.
    const tables = `select name from pragma_table_list where schema = 'main' and type = 'table' and name not like 'sqlite_%'`;
    for (const { name } of this.#all<{ name: string }>(tables)) this.#watch(name);
  }

  /** The writes since the last call, in their order. */
  take(): WrittenRow[] {
    const rows = this.#all<WrittenRow>(`select "table", key, row from temp.written order by place`);
    if (rows.length > 0) this.#run("delete from temp.written");
    return rows;
  }

  replay(rows: readonly WrittenRow[]): void {
    if (rows.length === 0) return;
    // Together they hold: a statement that deletes a folder and the one above it need not do so row by row.
    this.#run("pragma defer_foreign_keys = on");
    for (const row of rows) this.#write(row);
    this.#run("pragma defer_foreign_keys = off");
    this.#run("delete from temp.written");
  }

  /** Whether another's rows can be written beside these: if not, one of the two must wait. */
  allow(rows: readonly WrittenRow[]): boolean {
    this.#run("savepoint allow");
    try {
      // In whichever order, for the same reason.
      for (let left = [...rows]; left.length > 0;) {
        const refused = left.filter((row) => !this.#isWritten(row));
        if (refused.length === left.length) return false;
        left = refused;
      }
      return true;
    } finally {
      this.#run("rollback to allow");
      this.#run("release allow");
    }
  }

  #isWritten(row: WrittenRow): boolean {
    try {
      this.#write(row);
      return true;
    } catch (error) {
      if (error instanceof ConstraintError) return false;
      throw error;
    }
  }

  #write({ table, key, row }: WrittenRow): void {
    const { put = "", remove = "" } = this.#writes.get(table) ?? {};
    if (row === null) this.#run(remove, key);
    else this.#run(put, row);
  }

  #watch(table: string): void {
    const columns = this.#all<{ name: string; pk: number }>(`select name, pk from pragma_table_info('${table}')`);
    const names = columns.map(({ name }) => `"${name}"`);
    const keys = columns.filter(({ pk }) => pk > 0).map(({ name }) => `"${name}"`);
    const array = (row: "new" | "old", of: readonly string[]) =>
      `json_array(${of.map((name) => `${row}.${name}`).join()})`;
    const note = (row: "new" | "old", image: string) =>
      `insert into written ("table", key, row) select '${table}', ${array(row, keys)}, ${image}`;
    const noteNew = `${note("new", array("new", names))};`;
    const bodies = {
      insert: noteNew,
      update: `${note("old", "null")} where ${array("old", keys)} <> ${array("new", keys)}; ${noteNew}`,
      delete: `${note("old", "null")};`,
    };
    for (const [event, body] of Object.entries(bodies))
      this.#run(`create temp trigger note_${event}_${table} after ${event} on main."${table}" begin ${body} end`);
    const values = names.map((_, index) => `value ->> ${index}`).join();
    const rest = names.filter((name) => !keys.includes(name)).map((name) => `${name} = excluded.${name}`);
    const update = rest.length === 0 ? "nothing" : `update set ${rest.join()}`;
    this.#writes.set(table, {
      put: `insert into "${table}" (${names.join()}) select ${values} from (select ? as value) where true on conflict (${keys.join()}) do ${update}`,
      remove: `delete from "${table}" where ${keys.map((name, index) => `${name} = ?1 ->> ${index}`).join(" and ")}`,
    });
  }

  #run(text: string, ...parameters: string[]): void {
    this.#connection.run({ ...sql.raw(text).compile(this.#build), parameters });
  }

  #all<Row>(text: string): Row[] {
    return this.#connection.all<Row>(sql.raw<Row>(text).compile(this.#build));
  }
}
