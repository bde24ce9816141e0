/** The SQL that files and folders share. */
import type { ExpressionBuilder, SelectQueryBuilder } from "kysely";
import { consistently, prepared, type Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, Tables } from "../../ports/tables.ts";
import { newestFirst, type Position } from "../paging.ts";
import { eachKind, type ItemKind, type ItemColumns, type ItemRows, ITEMS } from "../reach/kinds.ts";
import { type IdRange, MOST_ALIKE } from "./id-prefix.ts";
import { placeOrNone, tableOf } from "../reach/store.ts";
import { isFoundByOther, noteWaiting, WAITS } from "../search-index/store.ts";
import { refuseInTree, TreeActs } from "../tree-acts/acts.ts";
import { listTreeActs } from "../tree-acts/store.ts";

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

function placeIn(row: ListedRows[ItemKind]): string | null {
  return "parent_id" in row ? row.parent_id : row.folder_id;
}

/** How many rows are looked at together. */
const LOOKED_AT = 500;

/** The same while acts on trees are under way: rows of the other state may count as of this one, and the other way round. */
async function listUnderActs<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  filter: ItemFilter,
  after: Position | null,
  count: number,
): Promise<ListedRows[Kind][]> {
  const acts = new TreeActs(await listTreeActs(queries, filter.accountId));
  const inFolder = typeof filter.folderId === "string" ? await acts.actOn(queries, filter.folderId) : undefined;
  if (inFolder?.kind === "trash" && !filter.trashed) return [];
  const hasOthers = inFolder !== null && acts.has(filter.trashed ? "trash" : "restore");
  const kept: ListedRows[Kind][] = [];
  for (const trashed of hasOthers ? [filter.trashed, !filter.trashed] : [filter.trashed]) {
    const enough = kept.length + count;
    for (let from = after; kept.length < enough;) {
      const rows = (await queries.all(
        pageOf(queries, kind, { ...filter, trashed }, from, LOOKED_AT),
      )) as unknown as ListedRows[Kind][];
      for (const row of rows) {
        const written = await acts.asWritten(queries, row, placeIn(row));
        if ((written.trashed_at !== null) === filter.trashed && kept.length < enough) kept.push(written);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < LOOKED_AT) break;
      from = { createdAt: last.created_at, id: last.id };
    }
  }
  return kept.sort(newestFirst).slice(0, count);
}

/**
 * By what the rows themselves say. The conditions follow the indexes `{files,folders}_{account,vault,folder,parent,name}_{live,trashed}`. A
 * list by name names a vault or the ids.
 */
function pageOf(queries: Queries, kind: ItemKind, filter: ItemFilter, after: Position | null, count: number) {
  const place = queries.build.dynamic.ref<"folder_id">(ITEMS[kind].place);
  let query = fromTable(queries, kind, filter.ids ?? null)
    .select(LISTED[kind] as (typeof LISTED)["file"])
    .where("account_id", "=", filter.accountId);
  if (filter.vaultId !== null) query = query.where("vault_id", "=", filter.vaultId);
  // A name in a place is one look-up in the unique index, in the words of that index.
  if (filter.name !== undefined && filter.folderId !== undefined) {
    query = query.where(placeOrNone(kind), "=", filter.folderId ?? "");
  } else if (filter.folderId !== undefined) {
    query = query.where(place, filter.folderId === null ? "is" : "=", filter.folderId);
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
  if (isFound) await noteWaiting(transaction, known.account_id);
  return true;
}

/** For good. False: it is not as it was read (it has come back from the trash, say), and stays. Throws `tree_busy`. */
export async function deleteItem(transaction: Queries, kind: ItemKind, known: Known): Promise<boolean> {
  await refuseBusy(transaction, known);
  return (await transaction.run(transaction.build.deleteFrom(tableOf(kind)).where(asRead(known)))) === 1;
}
