/** What a shared vault asks of a new folder: a signed entry that says it. And of what comes back from the trash: one key. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { nameColumn, requireEntryOf, requireFittingEntry, requireFolderKey } from "../folder-names/entries.ts";
import { requireOneKey } from "../folder-names/aligning.ts";
import { renderAuthor } from "../items/authors.ts";
import { NEW_ENTRY } from "../items/entries.ts";
import { findMadeItem } from "../items/made.ts";
import { nameTaken } from "../items/names.ts";
import type { Given } from "../items/naming-shared.ts";
import type { Permits } from "../reach/permits.ts";
import type { FoundPlace } from "../items/placing.ts";
import type { SeenVault } from "../reach/access.ts";
import { foldersOf } from "../tree-acts/folders-of.ts";
import { hasTwins } from "../tree-acts/store.ts";
import { sharedEntryOf } from "./rules.ts";

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
  const isSame = (row: FolderRow) => sharedEntryOf(row)?.entry === signed.shared.entry;
  const made = await findMadeItem(transaction, principal, "folder", { id: signed.statement.id, isSame });
  if (made !== null) {
    permits.use(made.vault);
    return { ...made.row, exists: true };
  }
  const writer = permits.write(vault, signed.statement);
  const wanted = { kind: "folder", id: signed.statement.id, folderId: place.folderId, old: null } as const;
  await requireFittingEntry(transaction, vault, writer, { signed, wanted });
  await requireFolderKey(transaction, vault, signed.statement);
  return {
    id: signed.statement.id,
    account_id: vault.account_id,
    vault_id: vault.id,
    parent_id: place.folderId,
    name,
    depth: place.depth + 1,
    shared_json: JSON.stringify(signed.shared),
    created_at: now,
    updated_at: now,
    trashed_at: null,
    trashed_with: null,
    revision: 1,
    exists: false,
    created_by: await renderAuthor(transaction, principal, vault.account_id),
    updated_by: null,
    ...NEW_ENTRY,
  };
}

/**
 * What comes back with a folder may have been renamed and rotated in the trash: names must be unique again, and each folder's entries under
 * one key.
 * @throws ServiceError `name_exists`, `names_outdated`.
 */
export async function requireRestorable(
  transaction: Queries,
  vault: SeenVault,
  root: FolderRow,
  trashedWith: string,
): Promise<void> {
  const part = {
    account_id: root.account_id,
    vault_id: root.vault_id,
    kind: "restore",
    trashed_with: trashedWith,
  } as const;
  for await (const { ids } of foldersOf(transaction, root)) {
    const twins = await hasTwins(transaction, part, ids);
    if (twins !== null) throw nameTaken(twins === "files" ? "file" : "folder");
    if (vault.plain_names === 1) continue;
    for (const folderId of ids)
      await requireOneKey(transaction, { accountId: vault.account_id, vaultId: vault.id, folderId }, trashedWith);
  }
}
