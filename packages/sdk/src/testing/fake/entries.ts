/** Authors in the fake, and the names and places that items had. */
import type { api, Author, File, FileEntry, Folder, FolderEntry } from "@coffer/contract";
import type { GroupHandlers } from "../handlers.ts";
import type { KeptEntry } from "./row.ts";
import { pageOf, readRow, timestamp, type Caller, type State } from "./state.ts";

const KEEP_DAYS = 30;
const DAY = 86_400_000;
export const KEPT_OF_AUTHOR = 100;

export function authorOf({ kind, key, sessionId }: Caller): Author {
  const { id, name, chainAddress } = key.value;
  return kind === "api-key" ? { kind, id, name, chainAddress } : { kind, id: sessionId, name: null, chainAddress };
}

/** Without the oldest of the author beyond the bound. */
export function bounded<Kept extends { readonly value: { readonly author: Author | null } }>(
  kept: readonly Kept[],
  author: Author | null,
): Kept[] {
  const own = kept.filter(({ value }) => value.author?.kind === author?.kind && value.author?.id === author?.id);
  const gone = new Set(own.slice(KEPT_OF_AUTHOR));
  return kept.filter((each) => !gone.has(each));
}

/** When it goes that was replaced then, by the days of its vault. */
export function endOf(state: State, vaultId: string, replacedAt: number): { readonly expiresAt: string } {
  const days = state.vaults.get(vaultId)?.value.keepVersionsDays ?? KEEP_DAYS;
  return { expiresAt: new Date(replacedAt + days * DAY).toISOString() };
}

/** The item's name and place is its newest entry from now on. */
export function noteEntry(state: State, caller: Caller, item: File | Folder, how: FileEntry["how"]): void {
  const place = "folderId" in item ? item.folderId : item.parentId;
  const [current, ...older] = state.entries.get(item.id) ?? [];
  const { id, name, vaultId } = item;
  if (current?.value.name === name && current.place === place) return;
  const now = state.now();
  const number = (current?.value.number ?? 0) + 1;
  const made = { number, name, vaultId, author: authorOf(caller), how, createdAt: timestamp(state), expiresAt: null };
  const past =
    current === undefined
      ? []
      : [{ ...current, value: { ...current.value, ...endOf(state, vaultId, now) }, replacedAt: now }];
  const entries = [{ value: { ...made, shared: null }, place, replacedAt: null }, ...past, ...older];
  state.entries.set(id, bounded(entries, made.author));
}

/** After the vault's days changed. */
export function keepEntriesAsVaultSays(state: State, vaultId: string): void {
  for (const [id, entries] of state.entries) {
    const kept = entries.map((entry) =>
      entry.replacedAt === null || entry.value.vaultId !== vaultId
        ? entry
        : { ...entry, value: { ...entry.value, ...endOf(state, vaultId, entry.replacedAt) } },
    );
    state.entries.set(id, kept);
  }
}

type Query = Parameters<typeof pageOf>[1];

function pageOfEntries<Entry>(state: State, id: string, query: Query, render: (entry: KeptEntry) => Entry) {
  const now = timestamp(state);
  const live = (state.entries.get(id) ?? []).filter(({ value }) => value.expiresAt === null || value.expiresAt > now);
  const rows = live.map((entry) => ({ accountId: "", sequence: entry.value.number, value: render(entry) }));
  const { items, nextCursor } = pageOf(rows, query);
  return { entries: items, nextCursor };
}

export function fileEntryHandlers(state: State): Pick<GroupHandlers<typeof api.files, Caller>, "entries"> {
  return {
    entries: ({ params: { fileId }, query }, caller) => {
      readRow(state, state.files, caller, fileId, "File");
      return pageOfEntries(state, fileId, query, ({ value, place }): FileEntry => ({ ...value, folderId: place }));
    },
  };
}

export function folderEntryHandlers(state: State): Pick<GroupHandlers<typeof api.folders, Caller>, "entries"> {
  return {
    entries: ({ params: { folderId }, query }, caller) => {
      readRow(state, state.folders, caller, folderId, "Folder");
      return pageOfEntries(state, folderId, query, ({ value, place }): FolderEntry => ({ ...value, parentId: place }));
    },
  };
}
