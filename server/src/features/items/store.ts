/** The SQL that files and folders share. */
import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder, SelectQueryBuilder } from "kysely";
import { consistently, prepared, type Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, Tables } from "../../ports/tables.ts";
import { newestFirst, type Position } from "../paging.ts";
import { eachKind, type ItemKind, type ItemColumns, type ItemRows, ITEMS } from "../reach/kinds.ts";
import { type IdRange, MOST_ALIKE } from "./id-prefix.ts";
import { placeOrNone, tableOf } from "../reach/store.ts";
import { isFoundByOther, countWaitingFile, WAITS } from "../search-index/store.ts";
import { refuseInTree, TreeActs } from "../tree-acts/acts.ts";
import { isChangedBy, listTreeActs } from "../tree-acts/store.ts";

/** Where an item lies: `folderId` null at the top of the vault. */
export interface Place {
  readonly vaultId: string;
  readonly folderId: string | null;
}

const liveByName = eachKind((kind) =>
  prepared((build, value: { vaultId: string; folderId: string; name: string }) =>
    build
      .selectFrom(tableOf(kind))
      .select("id")
      .where("vault_id", "=", value.vaultId)
      .where(placeOrNone(kind), "=", value.folderId)
      .where("name", "=", value.name)
      .where("trashed_at", "is", null),
  ),
);

/** Whether a live item of the kind has the name there. */
export async function isNameTaken(
  queries: Queries,
  kind: ItemKind,
  { vaultId, folderId }: Place,
  name: string,
): Promise<boolean> {
  const query = liveByName[kind](queries, { vaultId, folderId: folderId ?? "", name });
  return (await queries.first(query)) !== null;
}

export interface ItemFilter {
  readonly accountId: string;
  /** null: wherever in the account. */
  readonly vaultId: string | null;
  /** null: the top of the vault; undefined: anywhere. */
  readonly folderId: string | null | undefined;
  readonly name: string | undefined;
  /** `name` is a name index: only shared vaults have it. */
  readonly byIndex?: boolean;
  readonly trashed: boolean;
  /** null: every id. The caller has made sure that few are in it. */
  readonly ids?: IdRange | null;
}

/** What a list shows of a row. Blobs, versions and entries have columns that nobody reads there. */
const LISTED = {
  file: [
    ...(["id", "account_id", "vault_id", "folder_id", "version_id", "name", "size", "content_type", "sha256"] as const),
    ...(["encrypted", "shared_json", "created_at", "updated_at", "created_by", "updated_by", "trashed_at"] as const),
    ...(["trashed_with", "revision"] as const),
  ],
  folder: [
    ...(["id", "account_id", "vault_id", "parent_id", "name", "shared_json", "created_at", "updated_at"] as const),
    ...(["created_by", "updated_by", "trashed_at", "trashed_with", "revision"] as const),
  ],
} as const;

export interface ListedRows {
  readonly file: Pick<FileRow, (typeof LISTED)["file"][number]>;
  readonly folder: Pick<FolderRow, (typeof LISTED)["folder"][number]>;
}

/** The table, or its few rows in the range of ids: no other index is looked at for those, because they are read first. */
function fromTable(
  { build }: Queries,
  kind: ItemKind,
  ids: IdRange | null,
): SelectQueryBuilder<Tables, "files", object> {
  const table = tableOf(kind);
  if (ids === null) return build.selectFrom(table);
  const [from, to] = ids;
  const few = build.selectFrom(table).selectAll().where("id", ">=", from).where("id", "<", to).limit(MOST_ALIKE);
  return build.selectFrom(few.as("alike")) as unknown as SelectQueryBuilder<Tables, "files", object>;
}

/** At most `count` rows, newest first. */
export async function listItems<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  filter: ItemFilter,
  after: Position | null,
  count: number,
): Promise<ListedRows[Kind][]> {
  // One statement says both what the rows are and that no act on a tree changes what they count as.
  const acts = queries.build
    .selectFrom("tree_acts")
    .select((row) => row.fn.countAll<number | string>().as("under_way"))
    .where("account_id", "=", filter.accountId);
  const query = queries.build
    .selectFrom(acts.as("acts"))
    .leftJoin(pageOf(queries, kind, filter, after, count).as("page"), (join) => join.on("acts.under_way", "=", 0))
    .selectAll();
  const found = (await queries.all(query)) as unknown as (ListedRows[Kind] & { readonly under_way: number | string })[];
  if (Number(found[0]?.under_way) > 0)
    return consistently(queries, (on) => listUnderActs(on, kind, filter, after, count));
  return found.filter(({ id }) => id !== null).sort(newestFirst);
}

/** How many rows one statement looks at: some 50 ms of SQLite, which answers nobody else meanwhile. */
const LOOKED_AT = 50_000;

/** The same while acts on trees are under way: rows of the other state may count as of this one, and the other way round. */
async function listUnderActs<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  filter: ItemFilter,
  after: Position | null,
  count: number,
): Promise<ListedRows[Kind][]> {
  const acts = new TreeActs(await listTreeActs(queries, filter.accountId));
  const isUnderAct = filter.folderId === undefined || (await acts.actOn(queries, filter.folderId)) !== null;
  const kept: ListedRows[Kind][] = [];
  for (const trashed of [filter.trashed, !filter.trashed]) {
    const isCounted = trashed === filter.trashed;
    const changing = trashed ? "restore" : "trash";
    const rows =
      isUnderAct && acts.has(changing, filter.vaultId)
        ? await listChanging(queries, kind, { ...filter, trashed }, after, count, { changing, isChanged: !isCounted })
        : isCounted
          ? await queries.all(pageOf(queries, kind, filter, after, count))
          : [];
    for (const row of rows as unknown as ListedRows[Kind][])
      kept.push(await acts.asWritten(queries, row, placeIn(row)));
  }
  return kept.sort(newestFirst).slice(0, count);
}

function placeIn(row: ListedRows[ItemKind]): string | null {
  return "parent_id" in row ? row.parent_id : row.folder_id;
}

/** Rows of one state that acts of the kind change, or those that they leave as they are. */
async function listChanging(
  queries: Queries,
  kind: ItemKind,
  filter: ItemFilter,
  after: Position | null,
  count: number,
  { changing, isChanged }: { readonly changing: "trash" | "restore"; readonly isChanged: boolean },
): Promise<object[]> {
  const isWanted = isChangedBy(changing, { accountId: filter.accountId, place: placeOrNone(kind) }, isChanged);
  const kept: object[] = [];
  for (let from = after; ;) {
    const last = await findPositionAt(queries, kind, filter, from, LOOKED_AT);
    let query = pageOf(queries, kind, filter, from, count - kept.length).where(isWanted);
    if (last !== null)
      query = query.where((row) => row(row.refTuple("created_at", "id"), ">=", row.tuple(last.createdAt, last.id)));
    kept.push(...(await queries.all(query)));
    if (last === null || kept.length >= count) return kept;
    from = last;
    await setImmediate();
  }
}

/** Of the row that is so many rows further on; null: there are fewer. */
async function findPositionAt(
  queries: Queries,
  kind: ItemKind,
  filter: ItemFilter,
  after: Position | null,
  further: number,
): Promise<Position | null> {
  const query = pageOf(queries, kind, filter, after, 1).clearSelect().select(["created_at", "id"]);
  const row = await queries.first(query.offset(further - 1));
  return row === null ? null : { createdAt: row.created_at, id: row.id };
}

/**
 * By what the rows themselves say. The conditions follow the indexes `{files,folders}_{account,vault,folder,parent,name}_{live,trashed}`. A
 * list by name names a vault or the ids.
 */
function pageOf(queries: Queries, kind: ItemKind, filter: ItemFilter, after: Position | null, count: number) {
  let query = fromTable(queries, kind, filter.ids ?? null)
    .select(LISTED[kind] as (typeof LISTED)["file"])
    .where("account_id", "=", filter.accountId);
  if (filter.vaultId !== null) query = query.where("vault_id", "=", filter.vaultId);
  if (filter.folderId !== undefined) {
    const isTrashedName = filter.trashed && filter.name !== undefined;
    query = isTrashedName
      ? // In the words of no index, so that the name is looked up and not the folder: few names are alike.
        query.where(queries.build.dynamic.ref<"folder_id">(ITEMS[kind].place), "is not distinct from", filter.folderId)
      : query.where(placeOrNone(kind), "=", filter.folderId ?? "");
  }
  if (filter.name !== undefined) query = query.where("name", "=", filter.name);
  if (filter.byIndex === true) query = query.where("shared_json", "is not", null);
  query = query.where("trashed_at", filter.trashed ? "is not" : "is", null);
  if (after !== null) {
    query = query.where((eb) => eb(eb.refTuple("created_at", "id"), "<", eb.tuple(after.createdAt, after.id)));
  }
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(count);
}

/** What a change is based on: who read it finds no other content, place, name or state of the trash in its row. */
type Known = ItemRows[ItemKind];

const asRead = (known: Known) => (row: ExpressionBuilder<Tables, "files">) => {
  const { id, account_id, revision, trashed_at } = known;
  return row.and([
    row.and({ id, account_id, revision, ...("version_id" in known ? { version_id: known.version_id } : {}) }),
    row("trashed_at", trashed_at === null ? "is" : "=", trashed_at),
  ]);
};

/** A folder's row is locked with all that lies in the folder. */
function refuseBusy(transaction: Queries, known: Known): Promise<void> {
  return refuseInTree(transaction, known.vault_id, "parent_id" in known ? known.id : known.folder_id);
}

/**
 * Writes the changed columns alone, and only to a row that is as it was read. False: it is not, and nothing was written. Rejects with
 * ConstraintError on a taken name, and throws `tree_busy`.
 */
export async function updateItem(
  transaction: Queries,
  kind: ItemKind,
  known: Known,
  changes: ItemColumns,
): Promise<boolean> {
  await refuseBusy(transaction, known);
  const isFound = kind === "file" && isFoundByOther(known, changes);
  const query = transaction.build
    .updateTable(tableOf(kind))
    .set({ ...changes, ...(isFound ? WAITS : {}) } as Partial<FileRow>)
    .where(asRead(known));
  if ((await transaction.run(query)) !== 1) return false;
  if (isFound) await countWaitingFile(transaction, known.account_id);
  return true;
}

const parked = prepared((build, value: { id: string; accountId: string; name: string }) =>
  build
    .updateTable("files")
    .set({ name: value.name })
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId),
);

/**
 * Within an act that gives the file another name or place later on: until then it has a name that no file can have, so that another one may
 * take its own. What the act has read of it stays what {@link updateItem} compares.
 */
export async function parkName(transaction: Queries, { id, account_id: accountId }: FileRow): Promise<void> {
  await transaction.run(parked(transaction, { id, accountId, name: `/${id}` }));
}

/** For good. False: it is not as it was read (it has come back from the trash, say), and stays. Throws `tree_busy`. */
export async function deleteItem(transaction: Queries, kind: ItemKind, known: Known): Promise<boolean> {
  await refuseBusy(transaction, known);
  return (await transaction.run(transaction.build.deleteFrom(tableOf(kind)).where(asRead(known)))) === 1;
}
