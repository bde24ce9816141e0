/** The SQL of folders and of the trees below them. Every look-up from outside is by id and account, or recorded membership. */
import { sql, type Expression } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { inPieces } from "../in-pieces.ts";

/** Rejects with ConstraintError when the name was taken meanwhile. */
export async function insertFolder(transaction: Queries, row: FolderRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("folders").values(row));
}

/** Which rows of a tree an operation is about: those in the trash through one deletion, the live ones, or all. */
export type TreePart = { readonly trashedWith: string } | "live" | "all";

/** The ids of a folder and of all folders below it that belong to the part. */
function tree(queries: Queries, rootId: string, part: TreePart) {
  return queries.build.withRecursive("tree(id, depth)", (build) =>
    build
      .selectFrom("folders")
      .select(["id", "depth"])
      .where("id", "=", rootId)
      // Each once: folders that lie in a circle, which nothing makes, must not be walked for ever.
      .union(
        build
          .selectFrom("folders")
          .innerJoin("tree", "tree.id", "folders.parent_id")
          .select(["folders.id", "folders.depth"])
          .where(inPart("folders", part)),
      ),
  );
}

function inPart(table: "folders" | "files", part: TreePart): Expression<boolean> {
  if (part === "all") return sql<boolean>`1 = 1`;
  if (part === "live") return sql<boolean>`${sql.ref(`${table}.trashed_at`)} is null`;
  return sql<boolean>`${sql.ref(`${table}.trashed_with`)} = ${part.trashedWith}`;
}

/** Whether `folderId` is `rootId` or lies anywhere below it. */
export async function liesWithin(queries: Queries, rootId: string, folderId: string): Promise<boolean> {
  const found = await queries.first(
    tree(queries, rootId, "all").selectFrom("tree").select("id").where("id", "=", folderId),
  );
  return found !== null;
}

/** The greatest depth in the part of the tree, its root included. */
export async function readDeepest(queries: Queries, rootId: string, part: TreePart): Promise<number> {
  const row = await queries.first(
    tree(queries, rootId, part)
      .selectFrom("tree")
      .select((eb) => eb.fn.max<number | string | null>("depth").as("deepest")),
  );
  return Number(row?.deepest ?? 0);
}

/** The ids of a live folder and of all live ones below it. */
export function listRestored(queries: Queries, rootId: string): Promise<string[]> {
  return listFolderIds(queries, rootId, "live");
}

/** Moves every folder below `rootId`, trashed ones too, up or down with it. */
export async function shiftDepths(transaction: Queries, rootId: string, by: number): Promise<void> {
  if (by === 0) return;
  const below = (await listFolderIds(transaction, rootId, "all")).filter((id) => id !== rootId);
  await inPieces(below, (ids) =>
    transaction.run(
      transaction.build
        .updateTable("folders")
        .set((eb) => ({ depth: eb("depth", "+", by) }))
        .where("id", "in", ids),
    ),
  );
}

/** Sends the live items below a folder to the trash; each row remembers the folder that it went with. */
export async function trashBelow(transaction: Queries, rootId: string, at: number): Promise<void> {
  await setTrashed(transaction, rootId, "live", { trashed_at: at, trashed_with: rootId });
}

/** Brings back what went to the trash through one deletion below `rootId`. */
export async function restoreBelow(transaction: Queries, rootId: string, trashedWith: string): Promise<void> {
  await setTrashed(transaction, rootId, { trashedWith }, { trashed_at: null, trashed_with: null });
}

async function listFolderIds(queries: Queries, rootId: string, part: TreePart): Promise<string[]> {
  return (await queries.all(tree(queries, rootId, part).selectFrom("tree").select("id"))).map((row) => row.id);
}

/** Files of the part, in the folders of the part. */
async function listFileIds(queries: Queries, rootId: string, part: TreePart): Promise<string[]> {
  const query = tree(queries, rootId, part)
    .selectFrom("files")
    .select("files.id")
    .where("folder_id", "in", (eb) => eb.selectFrom("tree").select("tree.id"))
    .where(inPart("files", part));
  return (await queries.all(query)).map((row) => row.id);
}

/** The part alone, also for the write: items that came back or went meanwhile stay where they are. */
async function setTrashed(
  transaction: Queries,
  rootId: string,
  part: TreePart,
  state: Pick<FolderRow, "trashed_at" | "trashed_with">,
): Promise<void> {
  const files = await listFileIds(transaction, rootId, part);
  const folders = (await listFolderIds(transaction, rootId, part)).filter((id) => id !== rootId);
  for (const [table, all] of [
    ["files", files],
    ["folders", folders],
  ] as const) {
    await inPieces(all, (ids) =>
      transaction.run(
        transaction.build
          .updateTable(table)
          .set((row) => ({ ...state, revision: row("revision", "+", 1) }))
          .where("id", "in", ids)
          .where(inPart(table, part)),
      ),
    );
  }
}
