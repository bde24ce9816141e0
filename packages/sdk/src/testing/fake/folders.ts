import { MAX_FOLDER_DEPTH, type api, type Folder } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { authorOf, folderEntryHandlers, noteEntry } from "./entries.ts";
import {
  moveItem,
  pageOfItems,
  placeOf,
  refuseChanged,
  refuseTakenName,
  restoreItem,
  setTrashed,
  touch,
} from "./items.ts";
import { findPlace, readRow, timestamp, type Caller, type FileRow, type FolderRow, type State } from "./state.ts";

type FolderHandlers = GroupHandlers<typeof api.folders, Caller>;

export function folderHandlers(state: State): FolderHandlers {
  return { ...placeHandlers(state), ...trashHandlers(state), ...folderEntryHandlers(state) };
}

function placeHandlers(state: State): Omit<FolderHandlers, "delete" | "restore" | "entries"> {
  const read = (caller: Caller, id: string): FolderRow => readRow(state, state.folders, caller, id, "Folder");
  return {
    create: ({ body }, caller) => {
      const { name } = body;
      if (name === undefined) throw new Failure("validation_failed", "body.name: a name is required");
      const { vaultId, folderId: parentId } = findPlace(state, caller, body.vaultId, body.parentId);
      if (depthOf(state, parentId) + 1 > MAX_FOLDER_DEPTH) throw new Failure("too_deep");
      refuseTakenName(state.folders, { vaultId, place: parentId, name }, null);
      const [createdAt, author] = [timestamp(state), authorOf(caller)];
      const folder: Folder = {
        id: crypto.randomUUID(),
        revision: 1,
        name,
        vaultId,
        parentId,
        createdAt,
        updatedAt: createdAt,
        createdBy: author,
        updatedBy: author,
        trashedAt: null,
        shared: null,
      };
      state.folders.set(folder.id, {
        accountId: caller.accountId,
        sequence: state.next(),
        value: folder,
        trashedWith: null,
      });
      noteEntry(state, caller, folder, "create");
      return { folder };
    },
    list: ({ query }, caller) => {
      const { items, nextCursor } = pageOfItems(state, state.folders, caller, { ...query, place: query.parentId });
      return { folders: items, nextCursor };
    },
    get: ({ params }, caller) => ({ folder: read(caller, params.folderId).value }),
    update: ({ params, headers, body: { name, parentId: place } }, caller) => {
      const row = read(caller, params.folderId);
      const judge = (wanted: string | null): void => {
        if (ancestorsOf(state, wanted).includes(row.value.id)) throw new Failure("folder_cycle");
        if (depthOf(state, wanted) + heightOf(state, row.value.id) > MAX_FOLDER_DEPTH) throw new Failure("too_deep");
      };
      return { folder: moveItem(state, state.folders, caller, row, { name, place }, headers["if-match"], judge) };
    },
  };
}

function trashHandlers(state: State): Pick<FolderHandlers, "delete" | "restore"> {
  const read = (caller: Caller, id: string): FolderRow => readRow(state, state.folders, caller, id, "Folder");
  return {
    delete: ({ params, headers }, caller) => {
      const row = read(caller, params.folderId);
      if (row.value.trashedAt === null) {
        refuseChanged(row.value, headers["if-match"]);
        trashTree(state, row);
        touch(state, caller, row);
      }
      return { folder: row.value };
    },
    restore: ({ params, headers, body }, caller) => {
      const row = read(caller, params.folderId);
      const wanted = { name: body?.name, ifMatch: headers["if-match"] };
      const folder = restoreItem(state, state.folders, caller, row, wanted, () => {
        restoreTree(state, row);
      });
      return { folder };
    },
  };
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
  for (const row of treeOf(state, root)) if (row.value.trashedAt === null) setTrashed(row, trashedAt, root.value.id);
}

function restoreTree(state: State, root: FolderRow): void {
  const group = root.trashedWith ?? root.value.id;
  for (const row of treeOf(state, root)) if (row.trashedWith === group) setTrashed(row, null, null);
}

/** The folder itself with everything in it. */
function treeOf(state: State, root: FolderRow): (FileRow | FolderRow)[] {
  const rows = [...state.folders.values(), ...state.files.values()];
  return rows.filter((row) => row === root || ancestorsOf(state, placeOf(row.value)).includes(root.value.id));
}
