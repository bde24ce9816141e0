/** Acts on many items in the fake: each item is changed as by itself. */
import type { api } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { hasScope, reaches, readRow, type Caller, type State } from "./state.ts";

type FileHandlers = GroupHandlers<typeof api.files, Caller>;
type FolderHandlers = GroupHandlers<typeof api.folders, Caller>;
type ActHandlers = Pick<FileHandlers, "trashMany" | "restoreMany" | "moveMany">;

interface NamedMany {
  readonly ids: readonly string[];
  readonly conditions?: readonly { readonly id: string; readonly ifMatch: string }[] | undefined;
}

interface Single {
  readonly files: Pick<FileHandlers, "delete" | "restore" | "update">;
  readonly folders: Pick<FolderHandlers, "delete" | "restore" | "update">;
}

export function actHandlers(state: State, { files, folders }: Single): ActHandlers {
  const each = async (
    caller: Caller,
    { ids, conditions = [] }: NamedMany,
    act: (id: string, kind: "file" | "folder", headers: { readonly "if-match"?: string }) => unknown,
  ) => {
    const results = [];
    const tags = new Map(conditions.map(({ id, ifMatch }) => [id, { "if-match": ifMatch }]));
    for (const id of ids) {
      try {
        await act(id, requireKind(state, caller, id), tags.get(id) ?? {});
        results.push({ id, error: null });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const isDone = error.code === "not_trashed";
        results.push({ id, error: isDone ? null : { code: error.code, message: error.message } });
      }
    }
    return { results };
  };
  return {
    trashMany: ({ body }, caller) =>
      each(caller, body, (id, kind, headers) =>
        kind === "file"
          ? files.delete({ params: { fileId: id }, query: {}, headers }, caller)
          : folders.delete({ params: { folderId: id }, headers }, caller),
      ),
    restoreMany: ({ body }, caller) =>
      each(caller, body, (id, kind, headers) =>
        kind === "file"
          ? files.restore({ params: { fileId: id }, headers, body: undefined }, caller)
          : folders.restore({ params: { folderId: id }, headers, body: undefined }, caller),
      ),
    moveMany: ({ body: { folderId, ...many } }, caller) => {
      if (folderId !== null) readRow(state, state.folders, caller, folderId, "Folder");
      return each(caller, many, (id, kind, headers) =>
        kind === "file"
          ? files.update({ params: { fileId: id }, headers, body: { folderId } }, caller)
          : folders.update({ params: { folderId: id }, headers, body: { parentId: folderId } }, caller),
      );
    },
  };
}

function requireKind(state: State, caller: Caller, id: string): "file" | "folder" {
  const folder = state.folders.get(id);
  const row = state.files.get(id) ?? folder;
  if (row === undefined || row.accountId !== caller.accountId || !reaches(caller, row.value.vaultId))
    throw new Failure("not_found", "File or folder not found");
  if (folder !== undefined && !hasScope(caller, "folders:write")) throw new Failure("missing_scope");
  return folder === undefined ? "file" : "folder";
}
