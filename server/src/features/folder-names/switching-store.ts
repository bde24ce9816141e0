/** The SQL of a folder whose names change keys: all its live entries, each with the name that waits for it. */
import { sql } from "kysely";
import type { Queries } from "../../ports/database.ts";
import type { StagedNameRow } from "../../ports/tables.ts";
import { PIECE } from "../in-pieces.ts";
import { ITEM_KINDS, ITEMS } from "../reach/kinds.ts";
import { placeOrNone, tableOf } from "../reach/store.ts";
import type { FolderOfVault, LiveEntry } from "./store.ts";

/** Beside the folder the account that owns it, as the indexes of listings have it. */
export interface SwitchingFolder extends FolderOfVault {
  readonly accountId: string;
}

export interface NamedEntry extends LiveEntry {
  /** What waits under the key; null: nothing. */
  readonly staged: Pick<StagedNameRow, "entry" | "metadata" | "name_index"> | null;
}

/**
 * In the order in which they were made, newest first. A new name does not change that order, so entries can be renamed
 * while they are read. Rows beside each other on the disk are written one after the other.
 */
export async function* entriesToName(
  queries: Queries,
  folder: SwitchingFolder,
  keyId: string,
): AsyncGenerator<NamedEntry> {
  for (const kind of ITEM_KINDS) {
    let after: Position | null = null;
    do {
      const rows: readonly Row[] = await queries.all(pageOf(queries, kind, { folder, keyId, after }));
      for (const row of rows) yield toNamed(kind, row);
      after = rows.length < PIECE ? null : (rows.at(-1) ?? null);
    } while (after !== null);
  }
}

type Position = Pick<Row, "created_at" | "id">;

interface Row {
  readonly id: string;
  readonly created_at: number;
  readonly shared_json: string | null;
  readonly entry: string | null;
  readonly metadata: string | null;
  readonly name_index: string | null;
}

function pageOf(
  queries: Queries,
  kind: LiveEntry["kind"],
  { folder, keyId, after }: { folder: SwitchingFolder; keyId: string; after: Position | null },
) {
  const place = sql.ref(`item.${ITEMS[kind].place}`);
  let query = queries.build
    .selectFrom(`${tableOf(kind)} as item`)
    .leftJoin("staged_names as staged", (join) =>
      join
        .on("staged.vault_id", "=", folder.vaultId)
        .on("staged.folder_id", "=", folder.folderId)
        .on("staged.key_id", "=", keyId)
        .on("staged.kind", "=", kind)
        .onRef("staged.item_id", "=", "item.id"),
    )
    .select(["item.id", "item.created_at", "item.shared_json", "staged.entry", "staged.metadata", "staged.name_index"])
    .where("item.account_id", "=", folder.accountId)
    .where("item.vault_id", "=", folder.vaultId)
    .where(sql<boolean>`coalesce(${place}, '') = ${folder.folderId}`)
    .where("item.trashed_at", "is", null);
  if (after !== null) {
    const { created_at, id } = after;
    query = query.where((row) => row(row.refTuple("item.created_at", "item.id"), "<", row.tuple(created_at, id)));
  }
  return query.orderBy("item.created_at", "desc").orderBy("item.id", "desc").limit(PIECE);
}

function toNamed(kind: LiveEntry["kind"], row: Row): NamedEntry {
  const { id, shared_json, entry, metadata, name_index } = row;
  const staged = entry === null || metadata === null || name_index === null ? null : { entry, metadata, name_index };
  return { kind, id, shared_json, staged };
}

/** The statements of what lies directly in the folder and went to the trash through one deletion. */
export async function* trashedEntries(
  queries: Queries,
  folder: SwitchingFolder,
  trashedWith: string,
): AsyncGenerator<string> {
  for (const kind of ITEM_KINDS) {
    let after: Position | null = null;
    do {
      const rows: readonly TrashedEntry[] = await queries.all(
        trashedPage(queries, kind, { folder, trashedWith, after }),
      );
      for (const { shared_json } of rows) if (shared_json !== null) yield shared_json;
      after = rows.length < PIECE ? null : (rows.at(-1) ?? null);
    } while (after !== null);
  }
}

type TrashedEntry = Pick<Row, "id" | "created_at" | "shared_json">;

function trashedPage(
  { build }: Queries,
  kind: LiveEntry["kind"],
  { folder, trashedWith, after }: { folder: SwitchingFolder; trashedWith: string; after: Position | null },
) {
  let query = build
    .selectFrom(tableOf(kind))
    .select(["id", "created_at", "shared_json"])
    .where("account_id", "=", folder.accountId)
    .where("vault_id", "=", folder.vaultId)
    .where(placeOrNone(kind), "=", folder.folderId)
    .where("trashed_at", "is not", null)
    .where("trashed_with", "=", trashedWith);
  if (after !== null) {
    const { created_at, id } = after;
    query = query.where((row) => row(row.refTuple("created_at", "id"), "<", row.tuple(created_at, id)));
  }
  return query.orderBy("created_at", "desc").orderBy("id", "desc").limit(PIECE);
}

/** The ids of items with a name waiting under the key that left the folder: they went elsewhere, or to the trash. */
export async function listLeft(queries: Queries, folder: FolderOfVault, keyId: string): Promise<string[]> {
  const left: string[] = [];
  for (let after = ""; ;) {
    const rows = await queries.all(stagedPage(queries, folder, keyId, after));
    for (const row of rows) if (!row.file && !row.folder) left.push(row.item_id);
    if (rows.length < PIECE) return left;
    after = rows.at(-1)?.item_id ?? after;
  }
}

/** `file`, `folder`: whether a live one of that id lies in the folder. */
function stagedPage(queries: Queries, { vaultId, folderId }: FolderOfVault, keyId: string, after: string) {
  const liveIn = (table: "files" | "folders", place: string) =>
    sql<number | boolean>`exists (select 1 from ${sql.table(table)} as item where item.id = staged_names.item_id
      and item.vault_id = ${vaultId} and coalesce(${sql.ref(place)}, '') = ${folderId} and item.trashed_at is null)`;
  return queries.build
    .selectFrom("staged_names")
    .select("item_id")
    .select([liveIn("files", "item.folder_id").as("file"), liveIn("folders", "item.parent_id").as("folder")])
    .where("vault_id", "=", vaultId)
    .where("folder_id", "=", folderId)
    .where("key_id", "=", keyId)
    .where("item_id", ">", after)
    .orderBy("item_id")
    .limit(PIECE);
}
