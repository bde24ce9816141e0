/** The SQL of folders and of the trees below them. Every look-up from outside is by id and account, or recorded membership. */
import { sql, type Expression } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { inPieces } from "../in-pieces.ts";
import type { Position } from "../paging.ts";

/** Where a folder lies: `parentId` null at the top of the vault. */
export interface FolderPlace {
  readonly vaultId: string;
  readonly parentId: string | null;
}

/** The expression of the unique index `folders_live_name`. */
const parentOrNone = sql<string>`coalesce(parent_id, '')`;

const liveByName = prepared((build, value: { vaultId: string; parentId: string; name: string }) =>
  build
    .selectFrom("folders")
    .select("id")
    .where("vault_id", "=", value.vaultId)
    .where(parentOrNone, "=", value.parentId)
    .where("name", "=", value.name)
    .where("trashed_at", "is", null),
);

/** The id of the live folder of that name in the place, null when the name is free. */
export async function findFolderIdByName(
  queries: Queries,
  { vaultId, parentId }: FolderPlace,
  name: string,
): Promise<string | null> {
  return (await queries.first(liveByName(queries, { vaultId, parentId: parentId ?? "", name })))?.id ?? null;
}

export interface FolderFilter {
  readonly accountId: string;
  /** null: wherever in the account. */
  readonly vaultId: string | null;
  /** null: the top of the vault; undefined: anywhere. */
  readonly parentId: string | null | undefined;
  readonly name: string | undefined;
  /** `name` is a name index: only shared vaults have it. */
  readonly byIndex?: boolean;
  readonly trashed: boolean;
}

/** At most `count` rows, newest first. The conditions follow the indexes `folders_{account,vault,parent}_{live,trashed}`. */
export function listFolders(
  queries: Queries,
  filter: FolderFilter,
  after: Position | null,
  count: number,
): Promise<FolderRow[]> {
  let query = queries.build.selectFrom("folders").selectAll().where("account_id", "=", filter.accountId);
  if (filter.vaultId !== null) query = query.where("vault_id", "=", filter.vaultId);
  // A name in a place is one look-up in the unique index, in the words of that index.
  if (filter.name !== undefined && filter.parentId !== undefined) {
    query = query.where(parentOrNone, "=", filter.parentId ?? "");
  } else if (filter.parentId === null) query = query.where("parent_id", "is", null);
  else if (filter.parentId !== undefined) query = query.where("parent_id", "=", filter.parentId);
  if (filter.name !== undefined) query = query.where("name", "=", filter.name);
  if (filter.byIndex === true) query = query.where("shared_json", "is not", null);
  query = query.where("trashed_at", filter.trashed ? "is not" : "is", null);
  if (after !== null) {
    query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after.createdAt, after.id)));
  }
  return queries.all(query.orderBy("created_at", "desc").orderBy("id", "desc").limit(count));
}

/** Rejects with ConstraintError when the name was taken meanwhile. */
export async function insertFolder(transaction: Queries, row: FolderRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("folders").values(row));
}

/** Writes name, place and trash state. Rejects with ConstraintError on a taken name. */
export async function updateFolder(transaction: Queries, row: FolderRow): Promise<void> {
  const { id, account_id: _account, vault_id: _vault, created_at: _created, ...changing } = row;
  await transaction.run(transaction.build.updateTable("folders").set(changing).where("id", "=", id));
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

/** Sends a folder and all that is live below it to the trash; each row remembers with whom it went. */
export async function trashTree(transaction: Queries, rootId: string, at: number): Promise<void> {
  const gone = { trashed_at: at, trashed_with: rootId };
  const files = await listFileIds(transaction, rootId, "live");
  const folders = await listFolderIds(transaction, rootId, "live");
  await setTrashed(transaction, { files, folders }, gone);
}

/** Brings back what went to the trash through one deletion below `rootId`; the root itself may get another name and place. */
export async function restoreTree(transaction: Queries, rootId: string, trashedWith: string): Promise<void> {
  const back = { trashed_at: null, trashed_with: null };
  const files = await listFileIds(transaction, rootId, { trashedWith });
  const folders = (await listFolderIds(transaction, rootId, { trashedWith })).filter((id) => id !== rootId);
  await setTrashed(transaction, { files, folders }, back);
}

async function listFolderIds(queries: Queries, rootId: string, part: TreePart): Promise<string[]> {
  return (await queries.all(tree(queries, rootId, part).selectFrom("tree").select("id"))).map((row) => row.id);
}

/** Of the files of the part in the folders of the part. */
async function listFileIds(queries: Queries, rootId: string, part: TreePart): Promise<string[]> {
  const query = tree(queries, rootId, part)
    .selectFrom("files")
    .select("files.id")
    .where("folder_id", "in", (eb) => eb.selectFrom("tree").select("tree.id"))
    .where(inPart("files", part));
  return (await queries.all(query)).map((row) => row.id);
}

async function setTrashed(
  transaction: Queries,
  { files, folders }: { readonly files: readonly string[]; readonly folders: readonly string[] },
  state: Pick<FolderRow, "trashed_at" | "trashed_with">,
): Promise<void> {
  for (const [table, all] of [
    ["files", files],
    ["folders", folders],
  ] as const) {
    await inPieces(all, (ids) =>
      transaction.run(
        transaction.build
          .updateTable(table)
          .set((row) => ({ ...state, revision: row("revision", "+", 1) }))
          .where("id", "in", ids),
      ),
    );
  }
}
