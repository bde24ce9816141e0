/** The past of an item's name and place (decision 0051). */
import type { SharedEntry } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { AuthoredRow, FileRow, FolderRow } from "../../ports/tables.ts";
import { parsePage, toPage } from "../paging.ts";
import { requireSight } from "../reach/access.ts";
import { readItemFor } from "../reach/items.ts";
import type { ItemKind } from "../reach/kinds.ts";
import { toTimestamp } from "../timestamps.ts";
import { showAuthor } from "./authors.ts";
import { currentEntryOf, type EntryFacts, keepEntry, listKeptEntries } from "./entries-store.ts";
import { readKeptUntil } from "./keeping.ts";

type EntryColumns = Pick<AuthoredRow, "entry_number" | "entry_at" | "entry_how" | "entry_author">;

/** A new item has these. */
export const NEW_ENTRY: EntryColumns = { entry_number: 1, entry_at: null, entry_how: null, entry_author: null };

/** Keeps an item's current entry, and returns the columns of the next. */
export async function changeEntry(
  transaction: Queries,
  deps: Pick<Deps, "settings">,
  old: FileRow | FolderRow,
  {
    how,
    now,
    author,
  }: { readonly how: "rename" | "move" | "restore" | "content"; readonly now: number; readonly author: string },
): Promise<EntryColumns> {
  await keepEntry(transaction, old, {
    now,
    author,
    expiresAt: await readKeptUntil(transaction, deps, old.vault_id, now),
  });
  return { entry_number: old.entry_number + 1, entry_at: now, entry_how: how, entry_author: author };
}

/** Newest first; the current one is the first. The number has the place of the time in the cursor. */
export async function listEntries(
  deps: Pick<Deps, "database" | "clock" | "chain">,
  principal: Principal,
  kind: ItemKind,
  { id, query }: { readonly id: string; readonly query: Parameters<typeof parsePage>[1] },
) {
  const { database, clock } = deps;
  const page = parsePage(`entries ${id}`, query);
  const { row: item, vault } = await readItemFor(database, principal, kind, id);
  await requireSight(deps, principal, vault);
  // The item's row first: what is replaced after that is the current entry here, and is not listed twice.
  const from = page.after?.createdAt ?? Number.MAX_SAFE_INTEGER;
  const before = Math.min(from, item.entry_number);
  const kept = await listKeptEntries(database, { itemId: id, before, now: clock.now(), limit: page.limit + 1 });
  const found = [...(from > item.entry_number ? [{ ...currentEntryOf(item), expires_at: null }] : []), ...kept].map(
    (entry) => ({ id, created_at: entry.number, entry }),
  );
  const { rows, nextCursor } = toPage(found, page);
  return { entries: rows.map(({ entry }) => toEntry(entry, principal, item)), nextCursor };
}

/** `folderId`: of files and folders alike. */
function toEntry(
  entry: EntryFacts & { readonly expires_at: number | null },
  principal: Principal,
  item: FileRow | FolderRow,
) {
  const shared = entry.shared_json === null ? null : (JSON.parse(entry.shared_json) as SharedEntry);
  return {
    number: entry.number,
    name: shared?.nameIndex === entry.name ? "" : entry.name,
    vaultId: item.vault_id,
    folderId: entry.folder_id,
    author: showAuthor(entry.author, principal, item),
    how: entry.how,
    createdAt: toTimestamp(entry.created_at),
    expiresAt: entry.expires_at === null ? null : toTimestamp(entry.expires_at),
    shared,
  };
}
