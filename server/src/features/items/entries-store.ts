/** The SQL of names and places that items had. The current ones are in the items' own rows (decision 0051). */
import type { SharedEntry } from "@coffer/contract";
import { prepared, type Queries } from "../../ports/database.ts";
import type { FileRow, FolderRow, ItemEntryRow } from "../../ports/tables.ts";
import { PIECE } from "../in-pieces.ts";
import { folderIdOf } from "../reach/kinds.ts";
import { authorKeyOf } from "./authors.ts";
import { DROPPED, KEPT_OF_AUTHOR } from "./keeping.ts";
import { endOf, withEnd } from "./retention-store.ts";

/** The current entry of an item, as it is kept when another takes its place. */
export type EntryFacts = Pick<
  ItemEntryRow,
  "number" | "name" | "folder_id" | "shared_json" | "how" | "author" | "created_at"
>;

export function currentEntryOf(row: FileRow | FolderRow): EntryFacts {
  const isFirst = row.entry_at === null;
  return {
    number: row.entry_number,
    name: row.name,
    folder_id: folderIdOf(row),
    shared_json: entryJson(row),
    how: row.entry_how ?? "create",
    author: isFirst ? row.created_by : row.entry_author,
    created_at: row.entry_at ?? row.created_at,
  };
}

/** A file's column has the statement of its content as well, which is no matter of its name. */
function entryJson({ shared_json: json }: FileRow | FolderRow): string | null {
  if (json === null) return null;
  const { entry, metadata, nameIndex } = JSON.parse(json) as SharedEntry;
  return JSON.stringify({ entry, metadata, nameIndex } satisfies SharedEntry);
}

const before = prepared((build, value: { itemId: string; before: number; now: number; limit: number }) =>
  build
    .selectFrom("item_entries")
    .selectAll()
    .select(endOf("item_entries").as("ends_at"))
    .where("item_id", "=", value.itemId)
    .where("number", "<", value.before)
    .where(endOf("item_entries"), ">", value.now)
    .orderBy("number", "desc")
    .limit(value.limit),
);

/** Newest first. */
export async function listKeptEntries(
  queries: Queries,
  value: { itemId: string; before: number; now: number; limit: number },
): Promise<ItemEntryRow[]> {
  return (await queries.all(before(queries, value))).map(withEnd);
}

const oldestOf = prepared((build, value: { itemId: string; authorKey: string }) =>
  build
    .selectFrom("item_entries")
    .select("number")
    .where("item_id", "=", value.itemId)
    .where("author_key", "=", value.authorKey)
    .orderBy("number", "desc")
    .offset(KEPT_OF_AUTHOR - 1)
    .limit(DROPPED),
);

/** Keeps the current entry. Beyond the bound the oldest of `author` go, who makes the next one: nobody writes another's out of their days. */
export async function keepEntry(
  transaction: Queries,
  old: FileRow | FolderRow,
  { now, expiresAt, author }: { readonly now: number; readonly expiresAt: number; readonly author: string },
): Promise<void> {
  const facts = currentEntryOf(old);
  const row: ItemEntryRow = {
    vault_id: old.vault_id,
    item_id: old.id,
    ...facts,
    author_key: authorKeyOf(facts.author),
    replaced_at: now,
    expires_at: expiresAt,
  };
  await transaction.run(transaction.build.insertInto("item_entries").values(row));
  const over = await transaction.all(oldestOf(transaction, { itemId: old.id, authorKey: authorKeyOf(author) }));
  if (over.length === 0) return;
  const numbers = over.map(({ number }) => number);
  await transaction.run(
    transaction.build.deleteFrom("item_entries").where("item_id", "=", old.id).where("number", "in", numbers),
  );
}

const anyOf = prepared((build, value: { itemId: string }) =>
  build.selectFrom("item_entries").select("number").where("item_id", "=", value.itemId).limit(1),
);

export async function hasEntries(queries: Queries, itemId: string): Promise<boolean> {
  return (await queries.first(anyOf(queries, { itemId }))) !== null;
}

/** For an item that is gone: at most so many go. */
export async function removeSomeEntries(transaction: Queries, itemId: string, most: number): Promise<void> {
  await removeSome(transaction, someOf(transaction, most).where("item_id", "=", itemId));
}

/** Some of those whose time is over, at most {@link PIECE}; answers how many. */
export function dropEndedEntries(transaction: Queries, now: number): Promise<number> {
  const ended = someOf(transaction, PIECE).where("expires_at", "<=", now);
  // What its vault keeps for longer by now does not say so yet.
  return removeSome(transaction, ended.where(endOf("item_entries"), "<=", now));
}

function removeSome(transaction: Queries, some: ReturnType<typeof someOf>): Promise<number> {
  return transaction.run(
    transaction.build
      .deleteFrom("item_entries")
      .where((row) => row(row.refTuple("item_id", "number"), "in", some.$asTuple("item_id", "number"))),
  );
}

function someOf({ build }: Queries, most: number) {
  return build.selectFrom("item_entries").select(["item_id", "number"]).limit(most);
}
