/** Applies one page of the change feed to a local index. The feed says what to read again, never what is in it. */
import { changesGroup, type Change } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { CallOptions } from "../connection/options.ts";
import type { IndexKey } from "./stored-index.ts";
import type { FolderRow } from "./index-rows.ts";
import type { NameTable } from "./name-table.ts";
import { reindexItems, type IndexTarget } from "./index-items.ts";

/** Nothing is older: the answer is empty, and its cursor is where the feed is now. */
const LAST_TIME = "9999-12-31T23:59:59.999Z";
const PAGE_LIMIT = 1000;
/** More items than these, and than a quarter of the rows, are read faster by a list of the vault. */
const MAX_REREAD = 256;

/** The cursor of the vault's feed as it is now. */
export async function presentCursor({ connection, vaultId }: IndexTarget, options: CallOptions): Promise<string> {
  const query = { vaultId, since: LAST_TIME, limit: 1, wait: 0 };
  const { nextCursor } = await callOn(connection, changesGroup.list, { query }, options);
  return nextCursor ?? "";
}

export interface AppliedChanges {
  /** The cursor of the feed up to which the table is true. */
  readonly cursor: string;
  /** Items that were read again; 0: nothing has changed. */
  readonly items: number;
  readonly key: IndexKey | null;
}

/**
 * Reads what changed since `cursor` again, up to 1,000 changes. null: so much has changed that a list of the vault takes less.
 * @throws ApiError `cursor_expired`.
 */
export async function applyChanges(
  target: IndexTarget,
  cursor: string,
  options: CallOptions,
): Promise<AppliedChanges | null> {
  const query = { vaultId: target.vaultId, cursor, limit: PAGE_LIMIT, wait: 0 };
  const page = await callOn(target.connection, changesGroup.list, { query }, options);
  const changes = page.changes.filter(({ object }) => object.vaultId === target.vaultId);
  const files = idsOf(changes, "file");
  const folders = idsOf(changes, "folder");
  if (files.size + folders.size > Math.max(MAX_REREAD, target.table.size / 4)) return null;
  const before = new Map([...folders].map((id) => [id, target.table.folders.get(id) ?? null]));
  const fromFolders = await reindexItems(target, "folder", folders, options);
  const reread = [...before].flatMap(([id, row]) => applyToSubtree(target, id, row, changes));
  for (const id of reread) files.add(id);
  const key = (await reindexItems(target, "file", files, options)) ?? fromFolders;
  return { cursor: page.nextCursor ?? cursor, items: files.size + folders.size, key };
}

function idsOf(changes: readonly Change[], type: string): Set<string> {
  return new Set(changes.flatMap(({ object }) => (object.type === type ? [object.id] : [])));
}

/**
 * All below a folder goes with it into the trash, and back. The feed names the folder alone. Returns the files that must be
 * read again, because the table does not say which act took them there.
 */
function applyToSubtree(
  { table }: IndexTarget,
  id: string,
  before: FolderRow | null,
  changes: readonly Change[],
): readonly string[] {
  const now = table.folders.get(id);
  const files = table.below(id);
  if (now === undefined) {
    // Deleted for good, with all that is below it. Its files are read again: one that was moved out meanwhile stays.
    for (const each of table.foldersBelow(id)) table.removeFolder(each);
    return files.map((row) => row.id);
  }
  if (now.trashedAt !== null) {
    for (const row of files) if (row.trashedAt === null) table.put({ ...row, trashedAt: now.trashedAt });
    for (const each of table.foldersBelow(id)) trashFolder(table, each, null, now.trashedAt);
    return [];
  }
  const isRestored = changes.some(({ kind, object }) => kind === "folder.restored" && object.id === id);
  if (!isRestored) return [];
  const wasTrashed = before?.trashedAt ?? null;
  for (const each of table.foldersBelow(id)) if (wasTrashed !== null) trashFolder(table, each, wasTrashed, null);
  const inTrash = files.filter((row) => row.trashedAt !== null);
  const unreadable = table.unreadableBelow(id);
  if (wasTrashed === null) return [...inTrash.map((row) => row.id), ...unreadable];
  for (const row of inTrash) if (row.trashedAt === wasTrashed) table.put({ ...row, trashedAt: null });
  return unreadable;
}

function trashFolder(table: NameTable, id: string, from: string | null, to: string | null): void {
  const row = table.folders.get(id);
  if (row?.trashedAt === from) table.putFolder(id, { ...row, trashedAt: to });
}
