/** The SQL of acts on trees, and of walking trees. */
import { type ExpressionBuilder, type RawBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FolderRow, Tables } from "../../ports/tables.ts";
import type { TreeActRow } from "../../ports/tree-act-tables.ts";

const ofAccount = prepared((build, value: { accountId: string }) =>
  build.selectFrom("tree_acts").selectAll().where("account_id", "=", value.accountId),
);

export function listTreeActs(queries: Queries, accountId: string): Promise<TreeActRow[]> {
  return queries.all(ofAccount(queries, { accountId }));
}

const ofVault = prepared((build, value: { vaultId: string }) =>
  build.selectFrom("tree_acts").selectAll().where("vault_id", "=", value.vaultId),
);

export function listTreeActsIn(queries: Queries, vaultId: string): Promise<TreeActRow[]> {
  return queries.all(ofVault(queries, { vaultId }));
}

/** Of all accounts. */
export function listAllTreeActs(queries: Queries): Promise<TreeActRow[]> {
  return queries.all(queries.build.selectFrom("tree_acts").selectAll());
}

export async function insertTreeAct(transaction: Queries, row: TreeActRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("tree_acts").values(row));
}

/**
 * Whether acts of the kind change a file or folder of the state that they begin from, or (`isChanged` false) leave it as it is. As a `case`
 * no index is asked for it: rows stay in the order of the list, and the folders of the acts are found once for all of them.
 */
export function isChangedBy(
  kind: "trash" | "restore",
  { accountId, place }: { readonly accountId: string; readonly place: RawBuilder<string> },
  isChanged: boolean,
): RawBuilder<boolean> {
  return sql`case when (${place}, coalesce(trashed_with, '')) in (
    with recursive tree(id, trashed_with) as (
      select root_id, coalesce(trashed_with, '') from tree_acts where account_id = ${accountId} and kind = ${kind}
      union select folders.id, tree.trashed_with from folders join tree on folders.parent_id = tree.id
    ) select id, trashed_with from tree
  ) then 1 else 0 end = ${isChanged ? 1 : 0}`;
}

type Known = Pick<TreeActRow, "root_id" | "sequence">;

const known = prepared((build, value: Known & Record<string, string | number>) =>
  build
    .selectFrom("tree_acts")
    .select("root_id")
    .where("root_id", "=", value.root_id)
    .where("sequence", "=", value.sequence),
);

/** False: another process has finished it, or its vault is being deleted. */
export async function isUnderWay(queries: Queries, { root_id, sequence }: Known): Promise<boolean> {
  return (await queries.first(known(queries, { root_id, sequence }))) !== null;
}

export async function removeTreeAct(transaction: Queries, { root_id, sequence }: Known): Promise<void> {
  await transaction.run(
    transaction.build.deleteFrom("tree_acts").where("root_id", "=", root_id).where("sequence", "=", sequence),
  );
}

/** For a vault that is deleted for good: what lies in it changes no more. */
export async function removeTreeActsIn(transaction: Queries, vaultId: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("tree_acts").where("vault_id", "=", vaultId));
}

const parent = prepared((build, value: { id: string }) =>
  build.selectFrom("folders").select("parent_id").where("id", "=", value.id),
);

export async function findParent(queries: Queries, id: string): Promise<string | null> {
  return (await queries.first(parent(queries, { id })))?.parent_id ?? null;
}

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

/** The folders directly in the folders, in the trash or not. */
export async function listChildren(queries: Queries, folderIds: readonly string[]): Promise<string[]> {
  const query = queries.build
    .selectFrom("folders")
    .select("id")
    .where("parent_id", "in", [...folderIds]);
  return (await queries.all(query)).map(({ id }) => id);
}

/** The rows that an act changes. */
export type Part = Pick<TreeActRow, "account_id" | "vault_id" | "kind" | "trashed_with">;

type Table = "files" | "folders";
/** The expression of the indexes of listings. */
const PLACES = {
  files: sql<string>`coalesce(${sql.ref("folder_id")}, '')`,
  folders: sql<string>`coalesce(${sql.ref("parent_id")}, '')`,
} as const;

const isIn =
  ({ kind, trashed_with }: Part) =>
  (row: ExpressionBuilder<Tables, "files">) =>
    kind === "trash"
      ? row("trashed_at", "is", null)
      : row.and([row("trashed_at", "is not", null), row("trashed_with", "=", trashed_with)]);

/** Rows directly in the folders that the act changes, and that are not written yet: at most so many. Off the indexes of listings. */
function unwritten({ build }: Queries, table: Table, part: Part, folderIds: readonly string[]) {
  // Both tables have the columns that are asked for.
  return build
    .selectFrom(table as "files")
    .where("account_id", "=", part.account_id)
    .where("vault_id", "=", part.vault_id)
    .where(PLACES[table], "in", [...folderIds])
    .where(isIn(part));
}

export async function listUnwritten(
  queries: Queries,
  table: Table,
  part: Part,
  folderIds: readonly string[],
  most: number,
): Promise<string[]> {
  const rows = await queries.all(unwritten(queries, table, part, folderIds).select("id").limit(most));
  return rows.map(({ id }) => id);
}

/** Whether two of the rows have one name in one place: they cannot both come back. */
export async function hasTwins(queries: Queries, part: Part, folderIds: readonly string[]): Promise<Table | null> {
  for (const table of ["files", "folders"] as const) {
    const query = unwritten(queries, table, part, folderIds)
      .select("name")
      .groupBy([PLACES[table], "name"])
      .having((row) => row.fn.countAll<number>(), ">", 1)
      .limit(1);
    if ((await queries.first(query)) !== null) return table;
  }
  return null;
}

/** Writes the state of the trash that the act gives them. */
export async function writeState(
  transaction: Queries,
  table: Table,
  act: Part & Pick<TreeActRow, "root_id" | "trashed_at">,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const state =
    act.kind === "trash"
      ? { trashed_at: act.trashed_at, trashed_with: act.root_id }
      : { trashed_at: null, trashed_with: null };
  await transaction.run(
    transaction.build
      .updateTable(table)
      .set((row) => ({ ...state, revision: row("revision", "+", 1) }))
      .where("id", "in", [...ids]),
  );
}

/** Whether one of the folders has another depth. */
export async function isElsewhere(queries: Queries, ids: readonly string[], depth: number): Promise<boolean> {
  const others = queries.build
    .selectFrom("folders")
    .select("id")
    .where("id", "in", [...ids]);
  return (await queries.first(others.where("depth", "<>", depth).limit(1))) !== null;
}

export async function writeDepth(transaction: Queries, ids: readonly string[], depth: number): Promise<void> {
  await transaction.run(
    transaction.build
      .updateTable("folders")
      .set({ depth })
      .where("id", "in", [...ids])
      .where("depth", "<>", depth),
  );
}

export type TreeRoot = Pick<FolderRow, "id" | "account_id" | "vault_id" | "depth">;

const root = prepared((build, value: { id: string }) =>
  build.selectFrom("folders").select(["id", "account_id", "vault_id", "depth"]).where("id", "=", value.id),
);

export function findRoot(queries: Queries, id: string): Promise<TreeRoot | null> {
  return queries.first(root(queries, { id }));
}
