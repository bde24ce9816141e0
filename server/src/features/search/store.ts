/** The SQL of folders that a search looks through. */
import { prepared, type Queries } from "../../ports/database.ts";

const below = prepared((build, value: { rootId: string; most: number }) =>
  build
    .withRecursive("tree(id)", (tree) =>
      tree
        .selectFrom("folders")
        .select("id")
        .where("id", "=", value.rootId)
        // Each once: folders that lie in a circle, which nothing makes, must not be walked for ever.
        .union(tree.selectFrom("folders").innerJoin("tree", "tree.id", "folders.parent_id").select("folders.id")),
    )
    .selectFrom("tree")
    .select("id")
    .limit(value.most),
);

/** A folder and those below it, in the trash or not: at most so many. */
export async function listFoldersBelow(queries: Queries, rootId: string, most: number): Promise<string[]> {
  return (await queries.all(below(queries, { rootId, most }))).map(({ id }) => id);
}

const parent = prepared((build, value: { id: string }) =>
  build.selectFrom("folders").select("parent_id").where("id", "=", value.id),
);

export async function findParent(queries: Queries, id: string): Promise<string | null> {
  return (await queries.first(parent(queries, { id })))?.parent_id ?? null;
}
