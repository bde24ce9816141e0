/** What a shared vault asks of an item's new name or place: a signed entry that says it. */
import type { SharedEntry } from "@coffer/contract";
import type { AccountAct } from "../account/act.ts";
import type { FileRow, FolderRow } from "../../ports/tables.ts";
import {
  nameColumn,
  requireEntryOf,
  requireFittingEntry,
  requireFolderKey,
  requireStandingEntry,
} from "../folder-names/entries.ts";
import type { SeenVault } from "../reach/access.ts";
import { folderIdOf, type ItemKind } from "../reach/kinds.ts";
import type { Permits } from "../reach/permits.ts";

/** A name as it was sent: in the clear, or as an entry. */
export interface Given {
  readonly name?: string | undefined;
  readonly shared?: SharedEntry | undefined;
}

export interface NamedItem {
  readonly kind: ItemKind;
  readonly old: FileRow | FolderRow;
  readonly vault: SeenVault;
  /** Where the item is to lie. */
  readonly folderId: string | null;
  readonly given: Given;
  readonly permits: Permits;
}

export type NameColumns = Pick<FileRow, "name" | "shared_json">;

/** null: it has the name and lies there already. Throws `validation_failed` for a change without an entry, and what that is refused with. */
export async function nameChanged(act: AccountAct, item: NamedItem): Promise<NameColumns | null> {
  const { old, vault, folderId, given, permits } = item;
  const renames = given.name !== undefined && given.name !== old.name;
  const same = given.shared === undefined ? !renames : given.shared.entry === requireShared(item).entry;
  if (!same || folderId !== folderIdOf(old)) return signedName(act, item);
  // The answer shows the item all the same.
  permits.use(vault);
  return null;
}

/**
 * The name that an item comes back under. Its old entry is enough while it names the place and the folder's key.
 * Otherwise it throws `names_outdated`, and the item needs a new one.
 */
export async function nameRestored(act: AccountAct, item: NamedItem): Promise<NameColumns> {
  const { old, vault, folderId, given } = item;
  if (given.shared !== undefined) return signedName(act, item, { comesBack: true });
  const shared = requireShared(item);
  const name = nameColumn(vault, shared, { name: given.name, old: old.name });
  if (name !== old.name) requireEntryOf(undefined);
  await requireStandingEntry(act, vault, { entry: shared.entry, folderId });
  return { name, shared_json: old.shared_json };
}

async function signedName(act: AccountAct, item: NamedItem, { comesBack = false } = {}): Promise<NameColumns> {
  const { kind, old, vault, folderId, given, permits } = item;
  const shared = requireShared(item);
  const signed = requireEntryOf(given.shared);
  const writer = permits.write(vault, signed.statement);
  await requireFittingEntry(act, vault, writer, { signed, wanted: { kind, id: old.id, folderId, old: shared } });
  const name = nameColumn(vault, signed.shared, { name: given.name, old: old.name });
  // In the trash a name takes no place.
  if (old.trashed_at === null || comesBack) await requireFolderKey(act, vault, signed.statement);
  return { name, shared_json: JSON.stringify({ ...shared, ...signed.shared }) };
}

function requireShared({ kind, old }: Pick<NamedItem, "kind" | "old">): SharedEntry {
  if (old.shared_json === null) throw new Error(`${kind} ${old.id} lies in a shared vault without an entry`);
  return JSON.parse(old.shared_json) as SharedEntry;
}
