/** What files and folders have alike: their places, which names are taken, how they move, and the trash. */
import { plainTag, type File, type Folder } from "@coffer/contract";
import { Failure } from "../handlers.ts";
import { describeFile, describeFolder, announce } from "./events.ts";
import {
  authorOf,
  beginsWith,
  findPlace,
  isSeen,
  readFolder,
  readVault,
  timestamp,
  type Caller,
  type FileRow,
  type ItemRow,
  type State,
} from "./state.ts";

type Item = File | Folder;
type AnyRow = FileRow | ItemRow<Folder>;

/** The folder that holds it; null: the top of its vault. */
export function placeOf(item: Item): string | null {
  return "folderId" in item ? item.folderId : item.parentId;
}

/** The caller's rows that fit. Throws `not_found` for a vault or folder that is not the caller's. */
export function listItems<Value extends Item, Found extends ItemRow<Value>>(
  state: State,
  rows: ReadonlyMap<string, Found>,
  caller: Caller,
  wanted: {
    readonly vaultId?: string | undefined;
    /** `root`: the top of the vault. */
    readonly place?: string | undefined;
    readonly name?: string | undefined;
    readonly trashed?: boolean | undefined;
    readonly idPrefix?: string | undefined;
  },
): Found[] {
  const { vaultId, place, name, trashed = false, idPrefix } = wanted;
  if (vaultId !== undefined) readVault(state, caller, vaultId);
  if (place !== undefined && place !== "root") readFolder(state, caller, place);
  return [...rows.values()].filter(
    (row) =>
      isSeen(state, caller, row) &&
      (vaultId ?? row.value.vaultId) === row.value.vaultId &&
      (place === undefined || (place === "root" ? null : place) === placeOf(row.value)) &&
      (name ?? row.value.name) === row.value.name &&
      (row.value.trashedAt !== null) === trashed &&
      beginsWith(row.value.id, idPrefix),
  );
}

/** A file may have the name of a folder. */
export function refuseTakenName(
  rows: ReadonlyMap<string, ItemRow<File> | ItemRow<Folder>>,
  wanted: { readonly vaultId: string; readonly place: string | null; readonly name: string },
  except: string | null,
  code: "name_exists" | "precondition_failed" = "name_exists",
): void {
  for (const { value } of rows.values()) {
    const isSame = value.vaultId === wanted.vaultId && placeOf(value) === wanted.place && value.name === wanted.name;
    if (isSame && value.trashedAt === null && value.id !== except) throw new Failure(code);
  }
}

/** RFC 9110 §13.1.1: a change may name the item as it is by its tag, or by any of `others`. */
export function refuseChanged(
  item: Item,
  ifMatch: string | undefined,
  others: readonly string[] = [`"${String(item.revision)}"`],
): void {
  if (ifMatch === undefined || ifMatch === "*") return;
  const tags = tagsOf(ifMatch);
  if (![plainTag(item), ...others].some((tag) => tags.includes(tag))) throw new Failure("precondition_failed");
}

export function tagsOf(field: string): string[] {
  return field.split(",").map((tag) => tag.trim());
}

/** Renames and moves. */
export function moveItem(
  state: State,
  caller: Caller,
  row: AnyRow,
  change: { readonly name: string | undefined; readonly place: string | null | undefined },
  ifMatch: string | undefined,
): void {
  const { value: item } = row;
  if (item.trashedAt !== null) throw new Failure("trashed");
  refuseChanged(item, ifMatch);
  const place =
    change.place === undefined ? placeOf(item) : findPlace(state, caller, item.vaultId, change.place).folderId;
  if (ancestorsOf(state, place).includes(item.id)) throw new Failure("folder_cycle");
  const name = change.name ?? item.name;
  if (name === item.name && place === placeOf(item)) return;
  refuseTakenName(rowsOf(state, row), { vaultId: item.vaultId, place, name }, item.id);
  changeItem(state, caller, row, { name, place, revision: item.revision + 1 });
  emit(state, caller, row, "updated");
}

/** To the trash, a folder with everything in it. */
export function trashItem(state: State, caller: Caller, row: AnyRow, ifMatch: string | undefined): void {
  if (row.value.trashedAt !== null) return;
  refuseChanged(row.value, ifMatch);
  const trashedAt = timestamp(state);
  for (const each of treeOf(state, row))
    if (each.value.trashedAt === null) setTrashed(each, trashedAt, each === row ? null : row.value.id);
  changeItem(state, caller, row, {});
  emit(state, caller, row, "trashed");
}

/** Out of the trash, to the old place, or to the top if that is gone; a folder with what went along. */
export function restoreItem(
  state: State,
  caller: Caller,
  row: AnyRow,
  wanted: { readonly name: string | undefined; readonly ifMatch: string | undefined },
): void {
  const { id, vaultId, name: before, trashedAt } = row.value;
  if (trashedAt === null) throw new Failure("not_trashed");
  refuseChanged(row.value, wanted.ifMatch);
  const name = wanted.name ?? before;
  const folder = state.folders.get(placeOf(row.value) ?? "");
  const place = folder?.value.trashedAt === null ? folder.value.id : null;
  refuseTakenName(rowsOf(state, row), { vaultId, place, name }, id);
  const group = row.trashedWith ?? id;
  for (const each of treeOf(state, row)) if (each === row || each.trashedWith === group) setTrashed(each, null, null);
  changeItem(state, caller, row, { name, place });
  emit(state, caller, row, "restored");
}

/** Changes of an item by a caller, now. `place` is the field of each kind that names its folder. */
function changeItem(
  state: State,
  caller: Caller,
  row: AnyRow,
  { place, ...changes }: { readonly name?: string; readonly place?: string | null; readonly revision?: number },
): void {
  const placed = place === undefined ? {} : { [isFile(row) ? "folderId" : "parentId"]: place };
  const touched = { updatedAt: timestamp(state), updatedBy: authorOf(caller) };
  Object.assign(row, { value: { ...row.value, ...changes, ...placed, ...touched } });
}

function setTrashed(row: AnyRow, trashedAt: string | null, trashedWith: string | null): void {
  Object.assign(row, { value: { ...row.value, trashedAt, revision: row.value.revision + 1 }, trashedWith });
}

function emit(state: State, caller: Caller, row: AnyRow, what: "updated" | "trashed" | "restored"): void {
  if (isFile(row)) announce(state, caller, `file.${what}`, describeFile(row.value));
  else announce(state, caller, `folder.${what}`, describeFolder(row.value));
}

function isFile(row: AnyRow): row is FileRow {
  return "bytes" in row;
}

function rowsOf(state: State, row: AnyRow): ReadonlyMap<string, AnyRow> {
  return isFile(row) ? state.files : state.folders;
}

/** The folder itself, then its parents up to the top. */
export function ancestorsOf(state: State, id: string | null): string[] {
  const ids: string[] = [];
  for (let current = id; current !== null; current = state.folders.get(current)?.value.parentId ?? null)
    ids.push(current);
  return ids;
}

/** The item itself, and everything in it. */
function treeOf(state: State, root: AnyRow): AnyRow[] {
  const rows = [...state.folders.values(), ...state.files.values()];
  return rows.filter((row) => row === root || ancestorsOf(state, placeOf(row.value)).includes(root.value.id));
}
