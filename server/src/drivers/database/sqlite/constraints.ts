/** Which constraint a statement violated, in the port's words. */
import type { DatabaseSync } from "node:sqlite";
import { ConstraintError } from "../../../ports/database.ts";

/** Result codes: sqlite.org/rescode.html */
const FOREIGN_KEY = 787;
const PRIMARY_KEY = 1555;
const UNIQUE = 2067;
const ROW_ID = 2579;

/** `files_live_name` of an index over expressions, else the columns: `vaults.account_id, vaults.name`. */
const UNIQUE_MESSAGE = /UNIQUE constraint failed: (?:index '(?<index>[^']+)'|(?<columns>.+))$/;

export function toConstraintError(handle: DatabaseSync, error: unknown, code: number): ConstraintError {
  const message = error instanceof Error ? error.message : "constraint failed";
  switch (code) {
    case UNIQUE:
    case PRIMARY_KEY:
    case ROW_ID:
      return new ConstraintError(message, { kind: "unique", constraint: nameOf(handle, message), cause: error });
    case FOREIGN_KEY:
      return new ConstraintError(message, { kind: "reference", cause: error });
    default:
      return new ConstraintError(message, { kind: "check", cause: error });
  }
}

function nameOf(handle: DatabaseSync, message: string): string | null {
  const { index, columns } = UNIQUE_MESSAGE.exec(message)?.groups ?? {};
  if (index !== undefined || columns === undefined) return index ?? null;
  const [table = ""] = columns.split(".");
  const names = columns.split(", ").map((column) => column.slice(table.length + 1));
  return findIndex(handle, table, names) ?? `${table}_pkey`;
}

/**
 * Only the indexes have their names. This asks for one when a write was refused, which is seldom. null: an integer
 * primary key has none.
 */
function findIndex(handle: DatabaseSync, table: string, columns: readonly string[]): string | null {
  const query = handle.prepare(
    `select l.name, l.origin from pragma_index_list(?) l where l."unique" = 1 and ? =
      (select group_concat(c.name, ', ') from (select name from pragma_index_info(l.name) order by seqno) c)`,
  );
  const row = query.get(table, columns.join(", "));
  if (row === undefined) return null;
  if (row["origin"] === "c") return String(row["name"]);
  return row["origin"] === "pk" ? `${table}_pkey` : `${table}_${columns.join("_")}_key`;
}
