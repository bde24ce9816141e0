/**
 * Acts on trees that are under way: what each row below counts as, and what may not be changed until they are through. An act begins with
 * one row of `tree_acts`; whoever reads a file or folder asks here for the state that the act gives it.
 */
import type { Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import type { TreeActRow } from "../../ports/tree-act-tables.ts";
import { ServiceError } from "../../service-error.ts";
import { findParent, listTreeActsIn } from "./store.ts";

/** What an act changes of a row. */
export type TrashState = Pick<FileRow, "trashed_at" | "trashed_with" | "revision">;

export class TreeActs {
  readonly rows: readonly TreeActRow[];
  /** For each folder that was climbed from, the act that it lies in. */
  readonly #known = new Map<string, TreeActRow | null>();

  constructor(rows: readonly TreeActRow[]) {
    this.rows = rows;
    for (const row of rows) this.#known.set(row.root_id, row);
  }

  /** `vaultId` null: in any vault. */
  has(kind: TreeActRow["kind"], vaultId: string | null): boolean {
    return this.rows.some((row) => row.kind === kind && (vaultId === null || row.vault_id === vaultId));
  }

  /** The act on the folder or on one above it; null: none. Climbs to the top of the vault, and remembers what it has learnt. */
  async actOn(queries: Queries, folderId: string | null): Promise<TreeActRow | null> {
    if (this.rows.length === 0) return null;
    const path: string[] = [];
    let found: TreeActRow | null | undefined;
    for (let at = folderId; found === undefined;) {
      found = at === null || path.includes(at) ? null : this.#known.get(at);
      if (at === null || found !== undefined) break;
      path.push(at);
      at = await findParent(queries, at);
    }
    for (const id of path) this.#known.set(id, found ?? null);
    return found ?? null;
  }

  /** A row of a file or folder in the folder, as if the act on it were written. */
  async asWritten<Row extends TrashState>(queries: Queries, row: Row, folderId: string | null): Promise<Row> {
    const act = await this.actOn(queries, folderId);
    const state = act === null ? null : stateBy(act, row);
    return state === null ? row : { ...row, ...state, revision: row.revision + 1 };
  }
}

/** null: the act leaves the row as it is, or has been written to it. */
function stateBy(act: TreeActRow, row: TrashState): Omit<TrashState, "revision"> | null {
  if (act.kind === "trash" && row.trashed_at === null) return { trashed_at: act.trashed_at, trashed_with: act.root_id };
  if (act.kind === "restore" && row.trashed_at !== null && row.trashed_with === act.trashed_with)
    return { trashed_at: null, trashed_with: null };
  return null;
}

/**
 * Nothing moves into or out of a folder, or changes in it, while an act on it or on one above it is under way.
 * @throws ServiceError `tree_busy`.
 */
export async function refuseInTree(queries: Queries, vaultId: string, folderId: string | null): Promise<void> {
  const rows = await listTreeActsIn(queries, vaultId);
  if (rows.length > 0 && (await new TreeActs(rows).actOn(queries, folderId)) !== null)
    throw new ServiceError("tree_busy");
}

/** The same for an act on a folder with all below it: none may be under way there. Throws `tree_busy`. */
export async function refuseOverTree(queries: Queries, vaultId: string, folderId: string): Promise<void> {
  const rows = await listTreeActsIn(queries, vaultId);
  for (const { root_id } of rows)
    for (let at: string | null = root_id; at !== null; at = await findParent(queries, at))
      if (at === folderId) throw new ServiceError("tree_busy");
}

/** The same for all of a vault. */
export async function refuseInVault(queries: Queries, vaultId: string): Promise<void> {
  if ((await listTreeActsIn(queries, vaultId)).length > 0) throw new ServiceError("tree_busy");
}
