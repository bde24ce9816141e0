/** Folders of the fake. */
import { MAX_FOLDER_DEPTH, type api, type Folder } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { announce, describeFolder } from "./events.ts";
import { ancestorsOf, listItems, moveItem, refuseTakenName, restoreItem, trashItem } from "./items.ts";
import { authorOf, findPlace, pageOf, readFolder, timestamp, type Caller, type State } from "./state.ts";

export type FolderHandlers = Omit<GroupHandlers<typeof api.folders, Caller>, "entries">;

export function folderHandlers(state: State): FolderHandlers {
  return {
    create: ({ body: { name, vaultId: wanted, parentId: parent } }, caller) => {
      if (name === undefined) throw new Failure("validation_failed", "body.name: a name is required");
      const { vaultId, folderId: parentId } = findPlace(state, caller, wanted, parent);
      if (ancestorsOf(state, parentId).length >= MAX_FOLDER_DEPTH) throw new Failure("too_deep");
      refuseTakenName(state.folders, { vaultId, place: parentId, name }, null);
      const createdAt = timestamp(state);
      const folder: Folder = {
        id: crypto.randomUUID(),
        revision: 1,
        name,
        vaultId,
        parentId,
        createdAt,
        updatedAt: createdAt,
        createdBy: authorOf(caller),
        updatedBy: authorOf(caller),
        trashedAt: null,
        shared: null,
      };
      const { accountId } = caller;
      state.folders.set(folder.id, { accountId, sequence: state.next(), value: folder, trashedWith: null });
      announce(state, caller, "folder.created", describeFolder(folder));
      return { folder };
    },
    list: ({ query }, caller) => {
      const rows = listItems(state, state.folders, caller, { ...query, place: query.parentId });
      const { items, nextCursor } = pageOf(rows, query);
      return { folders: items, nextCursor };
    },
    get: ({ params }, caller) => ({ folder: readFolder(state, caller, params.folderId).value }),
    update: ({ params, headers, body: { name, parentId } }, caller) => {
      const row = readFolder(state, caller, params.folderId);
      moveItem(state, caller, row, { name, place: parentId }, headers["if-match"]);
      return { folder: row.value };
    },
    delete: ({ params, headers }, caller) => {
      const row = readFolder(state, caller, params.folderId);
      trashItem(state, caller, row, headers["if-match"]);
      return { folder: row.value };
    },
    restore: ({ params, headers, body }, caller) => {
      const row = readFolder(state, caller, params.folderId);
      restoreItem(state, caller, row, { name: body?.name, ifMatch: headers["if-match"] });
      return { folder: row.value };
    },
  };
}
