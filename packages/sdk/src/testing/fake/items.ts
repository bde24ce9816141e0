/** Files and folders of the fake are items: their places, who sees them, which names are taken, and how they move. */
import { plainTag, type File, type Folder } from "@coffer/contract";
import { Failure } from "../handlers.ts";
import { authorOf, noteEntry } from "./entries.ts";
import type { Row } from "./row.ts";
import {
  findPlace,
  isLiveVault,
  pageOf,
  reaches,
  readRow,
  readVault,
  timestamp,
  type Caller,
  type FileRow,
  type FolderRow,
  type State,
} from "./state.ts";

type Item = File | Folder;
type Rows<Value extends Item> = ReadonlyMap<string, Row<Value>>;

/** The folder that holds it; null: the top of its vault. */
export function placeOf(item: Item): string | null {
  return "folderId" in item ? item.folderId : item.parentId;
}

function at<Value extends Item>(item: Value, place: string | null): Value {
  return { ...item, ["folderId" in item ? "folderId" : "parentId"]: place };
}

export interface Filter {
  readonly vaultId?: string | undefined;
  /** `root`: the top of the vault. */
  readonly place?: string | undefined;
  readonly name?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly idPrefix?: string | undefined;
}

export function beginsWith(id: string, prefix = ""): boolean {
  return id.replaceAll("-", "").startsWith(prefix.replaceAll("-", ""));
}

/** The caller's rows that fit. Throws `not_found` for a vault or folder that is not the caller's. */
export function listItems<Value extends Item, Found extends Row<Value>>(
  state: State,
  rows: ReadonlyMap<string, Found>,
  caller: Caller,
  { vaultId, place, name, trashed = false, idPrefix }: Filter,
): Found[] {
  if (vaultId !== undefined) readVault(state, caller, vaultId);
  if (place !== undefined && place !== "root") readRow(state, state.folders, caller, place, "Folder");
  return [...rows.values()].filter(
    ({ accountId, value }) =>
      accountId === caller.accountId &&
      reaches(caller, value.vaultId) &&
      isLiveVault(state, value.vaultId) &&
      (vaultId ?? value.vaultId) === value.vaultId &&
      (place === undefined || (place === "root" ? null : place) === placeOf(value)) &&
      (name ?? value.name) === value.name &&
      (value.trashedAt !== null) === trashed &&
      beginsWith(value.id, idPrefix),
  );
}

export function pageOfItems<Value extends Item>(
  state: State,
  rows: Rows<Value>,
  caller: Caller,
  query: Filter & Parameters<typeof pageOf>[1],
): { items: Value[]; nextCursor: string | null } {
  return pageOf(listItems(state, rows, caller, query), query);
}

interface Named {
  readonly vaultId: string;
  readonly place: string | null;
  readonly name: string;
}

export function refuseTakenName<Value extends Item>(
  rows: Rows<Value>,
  { vaultId, place, name }: Named,
  except: string | null,
  code: "name_exists" | "precondition_failed" = "name_exists",
): void {
  for (const { value } of rows.values()) {
    const same = value.vaultId === vaultId && placeOf(value) === place && value.name === name;
    if (same && value.trashedAt === null && value.id !== except) throw new Failure(code);
  }
}

/** RFC 9110 §13.1.1. */
export function refuseOtherTag(tag: string, ifMatch: string | null): void {
  if (ifMatch !== null && ifMatch !== "*" && !tagsOf(ifMatch).includes(tag)) throw new Failure("precondition_failed");
}

/** A change names the item as it is by its tag, or by `other`: its revision, or its content. */
export function refuseChanged(
  item: Item,
  ifMatch: string | null | undefined,
  other = `"${String(item.revision)}"`,
): void {
  if (ifMatch == null || tagsOf(ifMatch).includes(other)) return;
  refuseOtherTag(plainTag(item), ifMatch);
}

export function tagsOf(field: string): string[] {
  return field.split(",").map((tag) => tag.trim());
}

/** Renames and moves. `judge` may refuse the new place. */
export function moveItem<Value extends Item>(
  state: State,
  rows: Rows<Value>,
  caller: Caller,
  row: Row<Value>,
  change: { readonly name?: string | undefined; readonly place?: string | null | undefined },
  ifMatch: string | undefined,
  judge: (place: string | null) => void = () => undefined,
): Value {
  const { value: item } = row;
  const { id, vaultId, revision } = item;
  if (item.trashedAt !== null) throw new Failure("trashed");
  refuseChanged(item, ifMatch);
  const place = change.place === undefined ? placeOf(item) : findPlace(state, caller, vaultId, change.place).folderId;
  judge(place);
  const name = change.name ?? item.name;
  if (name === item.name && place === placeOf(item)) return item;
  refuseTakenName(rows, { vaultId, place, name }, id);
  const how = place === placeOf(item) ? "rename" : "move";
  row.value = at({ ...item, name, revision: revision + 1 }, place);
  touch(state, caller, row);
  noteEntry(state, caller, row.value, how);
  return row.value;
}

/**
 * Takes items out of the trash. `untrash` clears the row, which then gets its name and its old place, or the top if
 * that is gone.
 */
export function restoreItem<Value extends Item>(
  state: State,
  rows: Rows<Value>,
  caller: Caller,
  row: Row<Value>,
  wanted: { readonly name: string | undefined; readonly ifMatch: string | undefined },
  untrash: () => void,
): Value {
  const { id, vaultId, name: before, trashedAt } = row.value;
  if (trashedAt === null) throw new Failure("not_trashed");
  refuseChanged(row.value, wanted.ifMatch);
  const name = wanted.name ?? before;
  const place = isLiveFolder(state, placeOf(row.value)) ? placeOf(row.value) : null;
  refuseTakenName(rows, { vaultId, place, name }, id);
  untrash();
  row.value = at({ ...row.value, name }, place);
  touch(state, caller, row);
  noteEntry(state, caller, row.value, "restore");
  return row.value;
}

function isLiveFolder(state: State, id: string | null): boolean {
  return id === null || state.folders.get(id)?.value.trashedAt === null;
}

/** Now, by the caller. */
export function touch(state: State, caller: Caller, row: { value: Item }): void {
  row.value = { ...row.value, updatedAt: timestamp(state), updatedBy: authorOf(caller) };
}

/** Into the trash, or out of it, alone or with the folder `group`. */
export function setTrashed(row: FileRow | FolderRow, trashedAt: string | null, group: string | null): void {
  Object.assign(row, { value: { ...row.value, trashedAt, revision: row.value.revision + 1 }, trashedWith: group });
}
