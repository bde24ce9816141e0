/** What a shared vault asks of a file's new name or place: a signed entry that says it. */
import { ServiceError } from "../../service-error.ts";
import type { Principal } from "../../handler.ts";
import type { SharedEntry, SharedFile } from "@coffer/contract";
import type { Queries } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import {
  nameColumn,
  requireEntryOf,
  requireFittingEntry,
  requireFolderKey,
  requireStandingEntry,
} from "../folder-names/entries.ts";
import type { Permits } from "../reach/permits.ts";
import { findPlace } from "../items/placing.ts";
import type { SeenVault } from "../reach/access.ts";
import { sharedOf } from "./rules.ts";

interface WantedChange {
  readonly old: FileRow;
  readonly vault: SeenVault;
  /** The folder that the file is to lie in. */
  readonly wanted: string | null;
  readonly change: { readonly name?: string | undefined; readonly shared?: SharedEntry | undefined };
  readonly permits: Permits;
}

/**
 * The row as it is to be; `changes` false: it is that already. Throws `validation_failed` for a change without an entry, `trashed` for a
 * move of what is in the trash, and what the entry is refused with.
 */
export async function changeSharedFile(
  transaction: Queries,
  principal: Principal,
  { old, vault, wanted, change, permits }: WantedChange,
): Promise<{ readonly row: FileRow; readonly changes: boolean }> {
  const shared = requireShared(old);
  const moves = wanted !== old.folder_id;
  const renames = change.name !== undefined && change.name !== old.name;
  const same = change.shared === undefined ? !renames : change.shared.entry === shared.entry;
  if (same && !moves) {
    // The answer shows the file all the same.
    permits.use(vault);
    return { row: old, changes: false };
  }
  const signed = requireEntryOf(change.shared);
  if (old.trashed_at !== null && moves) throw new ServiceError("trashed", "The file is in the trash");
  if (moves) await findPlace(transaction, principal, { vaultId: old.vault_id, folderId: wanted });
  const writer = permits.write(vault, signed.statement.generation);
  const place = { kind: "file", id: old.id, folderId: wanted, old: shared } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted: place });
  const name = nameColumn(vault, signed.shared, { name: change.name, old: old.name });
  if (old.trashed_at === null) await requireFolderKey(transaction, vault, signed.statement);
  const merged: SharedFile = { ...shared, ...signed.shared };
  return { row: { ...old, folder_id: wanted, name, shared_json: JSON.stringify(merged) }, changes: true };
}

/**
 * The name that a file comes back under. Its old entry will do while it names the place and the folder's key: throws `names_outdated`
 * when it does not, and a new one is needed.
 */
export async function nameRestored(
  transaction: Queries,
  {
    old,
    vault,
    folderId,
    restoring,
    permits,
  }: Pick<WantedChange, "old" | "vault" | "permits"> & {
    readonly folderId: string | null;
    readonly restoring: WantedChange["change"];
  },
): Promise<Pick<FileRow, "name" | "shared_json">> {
  const shared = requireShared(old);
  if (restoring.shared === undefined) {
    const name = nameColumn(vault, shared, { name: restoring.name, old: old.name });
    if (name !== old.name) requireEntryOf(undefined);
    await requireStandingEntry(transaction, vault, { entry: shared.entry, folderId });
    return { name, shared_json: old.shared_json };
  }
  const signed = requireEntryOf(restoring.shared);
  const writer = permits.write(vault, signed.statement.generation);
  const place = { kind: "file", id: old.id, folderId, old: shared } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted: place });
  await requireFolderKey(transaction, vault, signed.statement);
  const name = nameColumn(vault, signed.shared, { name: restoring.name, old: old.name });
  return { name, shared_json: JSON.stringify({ ...shared, ...signed.shared }) };
}

function requireShared(row: FileRow): SharedFile {
  const shared = sharedOf(row);
  if (shared === null) throw new Error(`file ${row.id} lies in a shared vault without statements`);
  return shared;
}
