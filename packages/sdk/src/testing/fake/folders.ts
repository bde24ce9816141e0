import { MAX_FOLDER_DEPTH, type api, type Folder } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { refuseOtherTag } from "./content.ts";
import {
  findPlace,
  isLiveVault,
  pageOf,
  reaches,
  readRow,
  readVault,
  timestamp,
  type Caller,
  type FolderRow,
  type State,
} from "./state.ts";

type FolderHandlers = GroupHandlers<typeof api.folders, Caller>;

export function folderHandlers(state: State): FolderHandlers {
  return { ...placeHandlers(state), ...trashHandlers(state) };
}

function placeHandlers(state: State): Omit<FolderHandlers, "delete" | "restore"> {
  const read = (caller: Caller, id: string): FolderRow => readRow(state, state.folders, caller, id, "Folder");
  return {
    create: ({ body }, caller) => {
      const { name } = body;
      if (name === undefined) throw new Failure("validation_failed", "body.name: a name is required");
      const { vaultId, folderId: parentId } = findPlace(state, caller, body.vaultId, body.parentId);
      if (depthOf(state, parentId) + 1 > MAX_FOLDER_DEPTH) throw new Failure("too_deep");
      refuseTaken(state, { vaultId, parentId, name }, null);
      const createdAt = timestamp(state);
      const folder: Folder = {
        id: crypto.randomUUID(),
        revision: 1,
        name,
        vaultId,
        parentId,
        createdAt,
        updatedAt: createdAt,
        trashedAt: null,
        shared: null,
      };
      state.folders.set(folder.id, {
        accountId: caller.accountId,
        sequence: state.next(),
        value: folder,
        trashedWith: null,
      });
      return { folder };
    },
    list: ({ query }, caller) => {
      if (query.vaultId !== undefined) readVault(state, caller, query.vaultId);
      if (query.parentId !== undefined && query.parentId !== "root") read(caller, query.parentId);
      const rows = [...state.folders.values()].filter(
        ({ accountId, value }) =>
          accountId === caller.accountId &&
          reaches(caller, value.vaultId) &&
          isLiveVault(state, value.vaultId) &&
          (query.vaultId ?? value.vaultId) === value.vaultId &&
          (query.parentId === undefined || (query.parentId === "root" ? null : query.parentId) === value.parentId) &&
          (query.name ?? value.name) === value.name &&
          (value.trashedAt !== null) === (query.trashed ?? false),
      );
      const { items, nextCursor } = pageOf(rows, query);
      return { folders: items, nextCursor };
    },
    get: ({ params }, caller) => ({ folder: read(caller, params.folderId).value }),
    update: ({ params, headers, body }, caller) => {
      const row = read(caller, params.folderId);
      if (row.value.trashedAt !== null) throw new Failure("trashed");
      refuseOtherTag(`"${String(row.value.revision)}"`, headers["if-match"] ?? null);
      row.value = moved(state, caller, row.value, body);
      return { folder: row.value };
    },
  };
}

function trashHandlers(state: State): Pick<FolderHandlers, "delete" | "restore"> {
  const read = (caller: Caller, id: string): FolderRow => readRow(state, state.folders, caller, id, "Folder");
  return {
    delete: ({ params }, caller) => {
      const row = read(caller, params.folderId);
      if (row.value.trashedAt === null) trashTree(state, row);
      return { folder: row.value };
    },
    restore: ({ params, body }, caller) => {
      const row = read(caller, params.folderId);
      if (row.value.trashedAt === null) throw new Failure("not_trashed");
      const name = body?.name ?? row.value.name;
      const parentId = isLiveFolder(state, row.value.parentId) ? row.value.parentId : null;
      refuseTaken(state, { vaultId: row.value.vaultId, parentId, name }, row.value.id);
      restoreTree(state, row);
      row.value = { ...row.value, name, parentId };
      return { folder: row.value };
    },
  };
}

export function isLiveFolder(state: State, id: string | null): boolean {
  return id === null || state.folders.get(id)?.value.trashedAt === null;
}

function moved(
  state: State,
  caller: Caller,
  folder: Folder,
  change: { readonly name?: string | undefined; readonly parentId?: string | null | undefined },
): Folder {
  const name = change.name ?? folder.name;
  const parentId =
    change.parentId === undefined
      ? folder.parentId
      : findPlace(state, caller, folder.vaultId, change.parentId).folderId;
  if (ancestorsOf(state, parentId).includes(folder.id)) throw new Failure("folder_cycle");
  if (depthOf(state, parentId) + heightOf(state, folder.id) > MAX_FOLDER_DEPTH) throw new Failure("too_deep");
  if (name === folder.name && parentId === folder.parentId) return folder;
  refuseTaken(state, { vaultId: folder.vaultId, parentId, name }, folder.id);
  return { ...folder, name, parentId, updatedAt: timestamp(state), revision: folder.revision + 1 };
}

function refuseTaken(state: State, place: Pick<Folder, "vaultId" | "parentId" | "name">, except: string | null): void {
  for (const { value } of state.folders.values()) {
    const same = value.vaultId === place.vaultId && value.parentId === place.parentId && value.name === place.name;
    if (same && value.trashedAt === null && value.id !== except) throw new Failure("name_exists");
  }
}

/** The folder itself, then its parents up to the top. */
function ancestorsOf(state: State, id: string | null): string[] {
  const ids: string[] = [];
  for (let current = id; current !== null; current = state.folders.get(current)?.value.parentId ?? null)
    ids.push(current);
  return ids;
}

function depthOf(state: State, id: string | null): number {
  return ancestorsOf(state, id).length;
}

function heightOf(state: State, id: string): number {
  const below = [...state.folders.values()].filter((row) => row.value.parentId === id);
  return 1 + Math.max(0, ...below.map((row) => heightOf(state, row.value.id)));
}

function trashTree(state: State, root: FolderRow): void {
  const trashedAt = timestamp(state);
  for (const row of state.folders.values()) {
    if (row.value.trashedAt !== null || !ancestorsOf(state, row.value.id).includes(root.value.id)) continue;
    row.value = { ...row.value, trashedAt, revision: row.value.revision + 1 };
    row.trashedWith = root.value.id;
  }
  for (const row of state.files.values()) {
    if (row.value.trashedAt !== null || !ancestorsOf(state, row.value.folderId).includes(root.value.id)) continue;
    row.value = { ...row.value, trashedAt, revision: row.value.revision + 1 };
    row.trashedWith = root.value.id;
  }
}

function restoreTree(state: State, root: FolderRow): void {
  const group = root.trashedWith ?? root.value.id;
  for (const rows of [state.folders, state.files] as const) {
    for (const row of rows.values()) {
      const inside =
        row === root ||
        ancestorsOf(state, "folderId" in row.value ? row.value.folderId : row.value.parentId).includes(root.value.id);
      if (row.trashedWith !== group || !inside) continue;
      Object.assign(row, {
        value: { ...row.value, trashedAt: null, revision: row.value.revision + 1 },
        trashedWith: null,
      });
    }
  }
}
