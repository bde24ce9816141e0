/** What a shared vault asks of a new folder, and of a folder's new name or place: a signed entry that says it. */
import type { SharedEntry } from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { isIdTaken } from "../reach/store.ts";
import {
  nameColumn,
  requireEntryOf,
  requireFittingEntry,
  requireFolderKey,
  requireStandingEntry,
  type SignedEntry,
} from "../folder-names/entries.ts";
import { alignFolderKey } from "../folder-names/aligning.ts";
import type { Permits } from "../reach/permits.ts";
import type { FoundPlace } from "../items/placing.ts";
import { readFolderFor, type SeenFolder } from "../reach/items.ts";
import type { SeenVault } from "../reach/access.ts";
import { sharedEntryOf } from "./rules.ts";
import { listRestored } from "./store.ts";

interface Given {
  readonly name?: string | undefined;
  readonly shared?: SharedEntry | undefined;
}

/** The row to insert; `exists`: it was made by this very entry before. Throws what {@link requireFittingEntry} throws, and `names_outdated`. */
export async function createSharedFolder(
  transaction: Queries,
  principal: Principal,
  {
    place,
    folder,
    permits,
    now,
  }: {
    readonly place: FoundPlace & { readonly vault: SeenVault };
    readonly folder: Given;
    readonly permits: Permits;
    readonly now: number;
  },
): Promise<FolderRow & { readonly exists: boolean }> {
  const { vault } = place;
  const signed = requireEntryOf(folder.shared);
  const name = nameColumn(vault, signed.shared, { name: folder.name });
  const made = await findMade(transaction, principal, signed);
  if (made !== null) {
    permits.use(made.vault);
    return { ...made.row, exists: true };
  }
  const writer = permits.write(vault, signed.statement.generation);
  const wanted = { kind: "folder", id: signed.statement.id, folderId: place.folderId, old: null } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted });
  await requireFolderKey(transaction, vault, signed.statement);
  return {
    ...{ id: signed.statement.id, account_id: vault.account_id, vault_id: vault.id, parent_id: place.folderId },
    ...{ name, depth: place.depth + 1, shared_json: JSON.stringify(signed.shared) },
    ...{ created_at: now, updated_at: now, trashed_at: null, trashed_with: null, revision: 1, exists: false },
  };
}

/** As for files: an id that is taken otherwise, also by a file, is refused in the same words, wherever it is taken. */
async function findMade(queries: Queries, principal: Principal, signed: SignedEntry): Promise<SeenFolder | null> {
  const { id } = signed.statement;
  const taken = new ServiceError("statement_invalid", "entry: the folder id cannot be used, choose another");
  if (!(await isIdTaken(queries, "folders", id))) {
    if (await isIdTaken(queries, "files", id)) throw taken;
    return null;
  }
  const seen = await readFolderFor(queries, principal, id).catch((cause: unknown) => {
    throw cause instanceof ServiceError && cause.code === "not_found" ? taken : cause;
  });
  if (sharedEntryOf(seen.row)?.entry !== signed.shared.entry) throw taken;
  return seen;
}

/** The row as it is to be, the old one when nothing changes. `moved`: the old one in its new place. */
export async function changeSharedFolder(
  transaction: Queries,
  {
    old,
    moved,
    vault,
    change,
    permits,
  }: {
    readonly old: FolderRow;
    readonly moved: FolderRow;
    readonly vault: SeenVault;
    readonly change: Given;
    readonly permits: Permits;
  },
): Promise<FolderRow> {
  const shared = requireShared(old);
  const moves = moved.parent_id !== old.parent_id;
  const renames = change.name !== undefined && change.name !== old.name;
  const same = change.shared === undefined ? !renames : change.shared.entry === shared.entry;
  if (same && !moves) {
    // The answer shows the folder all the same.
    permits.use(vault);
    return old;
  }
  const signed = requireEntryOf(change.shared);
  const writer = permits.write(vault, signed.statement.generation);
  const wanted = { kind: "folder", id: old.id, folderId: moved.parent_id, old: shared } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted });
  const name = nameColumn(vault, signed.shared, { name: change.name, old: old.name });
  if (old.trashed_at === null) await requireFolderKey(transaction, vault, signed.statement);
  return { ...moved, name, shared_json: JSON.stringify(signed.shared) };
}

/** The name that a folder comes back under; its old entry will do while it names the place and the folder's key. */
export async function nameRestoredFolder(
  transaction: Queries,
  {
    old,
    parentId,
    vault,
    restoring,
    permits,
  }: {
    readonly old: FolderRow;
    readonly parentId: string | null;
    readonly vault: SeenVault;
    readonly restoring: Given;
    readonly permits: Permits;
  },
): Promise<Pick<FolderRow, "name" | "shared_json">> {
  const shared = requireShared(old);
  if (restoring.shared === undefined) {
    const name = nameColumn(vault, shared, { name: restoring.name, old: old.name });
    if (name !== old.name) requireEntryOf(undefined);
    await requireStandingEntry(transaction, vault, { entry: shared.entry, folderId: parentId });
    return { name, shared_json: old.shared_json };
  }
  const signed = requireEntryOf(restoring.shared);
  const writer = permits.write(vault, signed.statement.generation);
  const wanted = { kind: "folder", id: old.id, folderId: parentId, old: shared } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted });
  await requireFolderKey(transaction, vault, signed.statement);
  const name = nameColumn(vault, signed.shared, { name: restoring.name, old: old.name });
  return { name, shared_json: JSON.stringify(signed.shared) };
}

/** What came back below a folder may have been rotated in the trash: each folder's entries must be under one key again. */
export async function alignRestored(transaction: Queries, vault: SeenVault, rootId: string): Promise<void> {
  if (vault.plain_names === 1) return;
  for (const folderId of await listRestored(transaction, rootId))
    await alignFolderKey(transaction, { vaultId: vault.id, folderId });
}

function requireShared(row: FolderRow): SharedEntry {
  const shared = sharedEntryOf(row);
  if (shared === null) throw new Error(`folder ${row.id} lies in a shared vault without an entry`);
  return shared;
}
