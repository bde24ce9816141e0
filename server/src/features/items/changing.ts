/** Renaming, moving, trashing and restoring an item. */
import type { EventKind } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs, actOnFullDisk } from "../account/act.ts";
import { type ActingDeps, recordChange, type Target } from "../acting.ts";
import { refuseEntry } from "../folder-names/entries.ts";
import type { SeenVault } from "../reach/access.ts";
import { readChangeable, readItemFor, type Seen } from "../reach/items.ts";
import type { FileRow } from "../../ports/tables.ts";
import { folderIdOf, type ItemColumns, type ItemKind, type ItemRows } from "../reach/kinds.ts";
import { type Permits, withPermits } from "../reach/permits.ts";
import { renderAuthor } from "./authors.ts";
import { requireUnchanged } from "./conditions.ts";
import { changeEntry } from "./entries.ts";
import { nameOrConflict, refuseTakenName } from "./names.ts";
import { type Given, nameChanged, type NameColumns, nameRestored } from "./naming-shared.ts";
import { findPlace, type FoundPlace } from "./placing.ts";
import { updateItem } from "./store.ts";

export type ChangingDeps = ActingDeps & Pick<Deps, "chain" | "settings">;

/** What one kind of items has to itself. */
export interface Particulars<Kind extends ItemKind> {
  readonly kind: Kind;
  readonly restored: EventKind;
  target(row: ItemRows[Kind]): Target;
  /** The columns of a new place. Throws what the place is refused with. */
  move(act: AccountAct, old: ItemRows[Kind], place: FoundPlace): Promise<ItemColumns>;
  /** The columns of the place that it comes back to: the top of the vault, where its folder is gone or in the trash itself. */
  findWayBack(act: AccountAct, old: ItemRows[Kind]): Promise<ItemColumns>;
  /** What else changes with it. */
  settle?(act: AccountAct, deps: ChangingDeps, change: WrittenChange<Kind>): Promise<void>;
}

export interface WrittenChange<Kind extends ItemKind> {
  readonly old: ItemRows[Kind];
  readonly row: ItemRows[Kind];
  /** null: a public one. */
  readonly vault: SeenVault | null;
}

export interface ItemChange extends Given {
  readonly id: string;
  readonly ifMatch: string | undefined;
  /** null: to the top of its vault. */
  readonly folderId?: string | null | undefined;
}

/** With what one item is changed in an act. */
export interface Changing {
  readonly act: AccountAct;
  readonly deps: ChangingDeps;
  readonly principal: Principal;
  readonly permits: Permits;
}

/** Answers the changed row, within the act: so a repeat with the same Idempotency-Key changes nothing more. */
export type RecordRow<Kind extends ItemKind, Answer> = (act: AccountAct, row: ItemRows[Kind]) => Promise<Answer>;

/** Throws `trashed`, `precondition_failed`, `name_exists`, and what the new place or the entry is refused with. */
export function changeItem<Kind extends ItemKind, Answer>(
  deps: ChangingDeps,
  principal: Principal,
  item: Particulars<Kind>,
  change: ItemChange,
  record: RecordRow<Kind, Answer>,
): Promise<Answer> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) =>
      record(act, await changeWithin({ act, deps, principal, permits }, item, change)),
    ),
  );
}

export async function changeWithin<Kind extends ItemKind>(
  changing: Changing,
  item: Particulars<Kind>,
  change: ItemChange,
): Promise<ItemRows[Kind]> {
  const seen = await readChangeable(changing.act, changing.principal, item.kind, change);
  requireUnchanged(change.ifMatch, seen.row);
  const planned = await planChange(changing, item, seen, change);
  return planned === null ? seen.row : writeItem(changing, item, planned);
}

/**
 * What {@link writeItem} has to write; null: nothing changes. It writes nothing of the item. Whether its name is free is not looked at.
 * @throws ServiceError what the new place or the entry is refused with.
 */
export async function planChange<Kind extends ItemKind>(
  { act, deps, principal, permits }: Changing,
  item: Particulars<Kind>,
  { row: old, vault }: Seen<ItemRows[Kind]>,
  change: Pick<ItemChange, "name" | "shared" | "folderId">,
): Promise<Writing<Kind> | null> {
  const folderId = change.folderId === undefined ? folderIdOf(old) : change.folderId;
  const moves = folderId !== folderIdOf(old);
  const place = moves ? await findPlace(act, principal, { vaultId: old.vault_id, folderId }) : null;
  const moved = place === null ? {} : await item.move(act, old, place);
  const named = await nameOf(act, { ...item, old, vault, folderId, given: change, permits });
  if (named === null) return null;
  const columns = { ...moved, ...named, updated_at: deps.clock.now() };
  return { old, vault, columns, action: `${item.kind}.updated` };
}

/** null: nothing changes. */
async function nameOf(
  act: AccountAct,
  item: Omit<Parameters<typeof nameChanged>[1], "vault"> & { readonly vault: SeenVault | null },
): Promise<Partial<NameColumns> | null> {
  const { old, vault, folderId, given } = item;
  if (vault !== null) return nameChanged(act, { ...item, vault });
  refuseEntry(given.shared);
  const { name = old.name } = given;
  return name === old.name && folderId === folderIdOf(old) ? null : { name };
}

/** An item, and the tag that it must still have. */
export type Named = Pick<ItemChange, "id" | "ifMatch">;

/** A second time changes nothing: the row is kept, so the answer is the same. Throws `precondition_failed`. */
export function trashItem<Kind extends ItemKind, Answer>(
  deps: ChangingDeps,
  principal: Principal,
  item: Particulars<Kind>,
  named: Named,
  record: RecordRow<Kind, Answer>,
): Promise<Answer> {
  return withPermits(deps, principal, (permits) =>
    actOnFullDisk(deps, principal, async (act) =>
      record(act, await trashWithin({ act, deps, principal, permits }, item, named)),
    ),
  );
}

export async function trashWithin<Kind extends ItemKind>(
  changing: Changing,
  item: Particulars<Kind>,
  { id, ifMatch }: Named,
): Promise<ItemRows[Kind]> {
  const seen = await readItemFor(changing.act, changing.principal, item.kind, id);
  changing.permits.use(seen.vault);
  if (seen.row.trashed_at !== null) return seen.row;
  requireUnchanged(ifMatch, seen.row);
  return writeItem(changing, item, planTrash(changing, item, seen));
}

/** What {@link writeItem} writes to move a live item to the trash. */
export function planTrash<Kind extends ItemKind>(
  { deps }: Changing,
  { kind }: Particulars<Kind>,
  { row: old, vault }: Seen<ItemRows[Kind]>,
): Writing<Kind> {
  const now = deps.clock.now();
  const columns = { trashed_at: now, trashed_with: kind === "folder" ? old.id : null, updated_at: now };
  return { old, vault, columns, action: `${kind}.trashed` };
}

/**
 * Under the name it has, or another. Throws `not_trashed`, `precondition_failed`, `name_exists`, and what the entry is
 * refused with.
 */
export function restoreItem<Kind extends ItemKind, Answer>(
  deps: ChangingDeps,
  principal: Principal,
  item: Particulars<Kind>,
  restored: Named & { readonly given: Given },
  record: RecordRow<Kind, Answer>,
): Promise<Answer> {
  return withPermits(deps, principal, (permits) =>
    actAs(deps, principal, async (act) =>
      record(act, await restoreWithin({ act, deps, principal, permits }, item, restored)),
    ),
  );
}

export async function restoreWithin<Kind extends ItemKind>(
  changing: Changing,
  item: Particulars<Kind>,
  { id, ifMatch, given }: Named & { readonly given: Given },
): Promise<ItemRows[Kind]> {
  const { act, deps, principal, permits } = changing;
  const { row: old, vault } = await readItemFor(act, principal, item.kind, id);
  permits.use(vault);
  if (old.trashed_at === null) throw new ServiceError("not_trashed");
  requireUnchanged(ifMatch, old);
  const back = await item.findWayBack(act, old);
  const folderId = folderIdOf({ ...old, ...back });
  if (vault === null) refuseEntry(given.shared);
  const named =
    vault === null
      ? { name: given.name ?? old.name }
      : await nameRestored(act, { ...item, old, vault, folderId, given, permits });
  const columns = { ...back, ...named, trashed_at: null, trashed_with: null, updated_at: deps.clock.now() };
  return writeItem(changing, item, { old, vault, columns, action: item.restored });
}

/** A change of an item that may be written, as far as the item by itself decides it. */
export interface Writing<Kind extends ItemKind> {
  readonly old: ItemRows[Kind];
  readonly vault: SeenVault | null;
  readonly columns: ItemColumns & Pick<FileRow, "updated_at">;
  readonly action: EventKind;
}

/** Throws `name_exists`. */
export async function writeItem<Kind extends ItemKind>(
  { act, deps, principal }: Pick<Changing, "act" | "deps" | "principal">,
  item: Particulars<Kind>,
  { old, vault, columns, action }: Writing<Kind>,
): Promise<ItemRows[Kind]> {
  const { kind } = item;
  const author = await renderAuthor(act, principal, old.account_id);
  const how = entrySource(old, { ...old, ...columns });
  const entry = how === null ? {} : await changeEntry(act, deps, old, { how, now: columns.updated_at, author });
  const changes = { ...columns, ...entry, updated_by: author, revision: old.revision + 1 };
  const row = { ...old, ...changes };
  if (takesName(old, row)) await refuseTakenName(act, kind, { vaultId: row.vault_id, folderId: folderIdOf(row) }, row);
  requireWritten(await nameOrConflict(updateItem(act, kind, old, changes)));
  await nameOrConflict(item.settle?.(act, deps, { old, row, vault }) ?? Promise.resolve());
  await recordChange(act, principal, action, item.target(row));
  return row;
}

/** null: it has the name and place that it had. */
function entrySource(old: ItemRows[ItemKind], row: ItemRows[ItemKind]): "rename" | "move" | "restore" | null {
  const how = newPlace(old, { name: row.name, folderId: folderIdOf(row) });
  return how !== null && old.trashed_at !== null && row.trashed_at === null ? "restore" : how;
}

/** What an item of another name or place has gone through; null: it has the name and place that it had. */
export function newPlace(
  old: ItemRows[ItemKind],
  { name, folderId }: { readonly name: string; readonly folderId: string | null },
): "rename" | "move" | null {
  if (folderId !== folderIdOf(old)) return "move";
  return name === old.name ? null : "rename";
}

/** Whether the row is in a place and of a name that it did not have before. What is in the trash has none. */
function takesName(old: ItemRows[ItemKind], row: ItemRows[ItemKind]): boolean {
  if (row.trashed_at !== null) return false;
  return old.trashed_at !== null || old.name !== row.name || folderIdOf(old) !== folderIdOf(row);
}

/** An act keeps to what it has read. Should a row have changed all the same, a repeat finds it as it is now. */
export function requireWritten(written: boolean): void {
  if (!written) throw new ServiceError("unavailable", "It has changed meanwhile: ask again");
}
