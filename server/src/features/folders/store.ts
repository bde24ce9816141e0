/** The SQL of folders and of the trees below them. Every look-up from outside is by id and account, or recorded membership. */
import { sql, type Expression } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { refuseInTree } from "../tree-acts/acts.ts";

/** Rejects with ConstraintError when the name was taken meanwhile, and throws `tree_busy`. */
export async function insertFolder(transaction: Queries, row: FolderRow): Promise<void> {
  await refuseInTree(transaction, row.vault_id, row.parent_id);
  await transaction.run(transaction.build.insertInto("folders").values(row));
}

/** Which folders of a tree an operation is about: those in the trash through one deletion, the live ones, or all. */
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
          .where(inPart(part)),
      ),
  );
}

function inPart(part: TreePart): Expression<boolean> {
  if (part === "all") return sql<boolean>`1 = 1`;
  if (part === "live") return sql<boolean>`folders.trashed_at is null`;
  // In the words of no index: folders are found by their parents. All that went together would be read once for each parent otherwise.
  return sql<boolean>`folders.trashed_with is not distinct from ${part.trashedWith}`;
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
