/** The SQL that files and folders share. */
import type { ExpressionBuilder, SelectQueryBuilder } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, Tables } from "../../ports/tables.ts";
import type { Position } from "../paging.ts";
import { eachKind, type ItemKind, type ItemColumns, ITEMS } from "../reach/kinds.ts";
import { type IdRange, MOST_ALIKE } from "./id-prefix.ts";
import { placeOrNone, tableOf } from "../reach/store.ts";
import { isFoundByOther, noteWaiting, WAITS } from "../search-index/store.ts";

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
    "revision",
  ],
  folder: [
    ...(["id", "account_id", "vault_id", "parent_id", "name", "shared_json", "created_at", "updated_at"] as const),
    ...(["created_by", "updated_by", "trashed_at", "revision"] as const),
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
  return build.selectFrom(few.as("files"));
}

/** At most `count` rows, newest first. The conditions follow the indexes `{files,folders}_{account,vault,folder,parent}_{live,trashed}`. */
export function listItems<Kind extends ItemKind>(
  queries: Queries,
  kind: Kind,
  filter: ItemFilter,
  after: Position | null,
  count: number,
): Promise<ListedRows[Kind][]> {
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
  query = query.orderBy("created_at", "desc").orderBy("id", "desc").limit(count);
  return queries.all(query) as Promise<unknown[]> as Promise<ListedRows[Kind][]>;
}

/** What a change is based on: who read it finds no other content, place, name or state of the trash in its row. */
type Known = Pick<FileRow, "id" | "account_id" | "revision" | "trashed_at"> & Partial<Pick<FileRow, "version_id">>;

const asRead =
  ({ id, account_id, revision, version_id, trashed_at }: Known) =>
  (row: ExpressionBuilder<Tables, "files">) =>
    row.and([
      row.and({ id, account_id, revision, ...(version_id === undefined ? {} : { version_id }) }),
      row("trashed_at", trashed_at === null ? "is" : "=", trashed_at),
    ]);

/**
 * Writes the changed columns alone, and only to a row that is as it was read. False: it is not, and nothing was written. Rejects with
 * ConstraintError on a taken name.
 */
export async function updateItem(
  transaction: Queries,
  kind: ItemKind,
  known: Known,
  changes: ItemColumns,
): Promise<boolean> {
  const isFound = kind === "file" && isFoundByOther(known, changes);
  const query = transaction.build
    .updateTable(tableOf(kind))
    .set({ ...changes, ...(isFound ? WAITS : {}) } as Partial<FileRow>)
    .where(asRead(known));
  if ((await transaction.run(query)) !== 1) return false;
  if (isFound) await noteWaiting(transaction, known.account_id);
  return true;
}

/** For good. False: it is not as it was read (it has come back from the trash, say), and stays. */
export async function deleteItem(transaction: Queries, kind: ItemKind, known: Known): Promise<boolean> {
  return (await transaction.run(transaction.build.deleteFrom(tableOf(kind)).where(asRead(known)))) === 1;
}
