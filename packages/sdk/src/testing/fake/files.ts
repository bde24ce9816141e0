/** Files of the fake, alone and many at once, and the trash. */
import type { api, Folder } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { batchHandler } from "./batches.ts";
import { commitHandler } from "./commit.ts";
import { answerContent, checkDigests, createFile, replaceContent } from "./content.ts";
import { announce, describeFile } from "./events.ts";
import { listItems, moveItem, refuseChanged, restoreItem, trashItem } from "./items.ts";
import {
  isSeen,
  notCovered,
  pageOf,
  readFile,
  readFolder,
  type Caller,
  type FileRow,
  type ItemRow,
  type State,
} from "./state.ts";

type Group = GroupHandlers<typeof api.files, Caller>;
type ContentHandlers = Pick<Group, "upload" | "content" | "replace" | "batch">;
type RowHandlers = Pick<Group, "list" | "get" | "update" | "delete" | "restore">;
type ManyHandlers = Pick<Group, "trashMany" | "restoreMany" | "moveMany" | "commit">;

export function fileHandlers(state: State): ContentHandlers & RowHandlers & ManyHandlers {
  return { ...contentHandlers(state), ...rowHandlers(state), ...manyHandlers(state) };
}

/** Calls that carry bytes. */
function contentHandlers(state: State): ContentHandlers {
  return {
    upload: async ({ query, headers, body }, caller) => {
      const contentType = headers["content-type"];
      if (/^multipart\//i.test(contentType ?? "")) throw notCovered("uploads as multipart/form-data");
      const { name, vaultId, folderId } = query;
      if (name === undefined) throw new Failure("validation_failed", "query.name: required");
      await checkDigests(body, [headers["content-digest"], headers["repr-digest"]]);
      const place = { vaultId, folderId, name, ifAbsent: headers["if-none-match"] === "*" };
      return { file: await createFile(state, caller, place, { bytes: body, contentType }) };
    },
    content: ({ params, query, headers }, caller) => {
      const row = readFile(state, caller, params.fileId);
      const { versionId = row.value.versionId } = query;
      if (versionId !== row.value.versionId) throw notCovered("versions of files");
      return answerContent(row, headers);
    },
    replace: async ({ params, headers, body }, caller) => {
      await checkDigests(body, [headers["content-digest"], headers["repr-digest"]]);
      const content = { bytes: body, contentType: headers["content-type"] };
      return { file: await replaceContent(state, caller, params.fileId, headers["if-match"], content) };
    },
    batch: batchHandler(state),
  };
}

function rowHandlers(state: State): RowHandlers {
  return {
    list: ({ query }, caller) => {
      const rows = listItems(state, state.files, caller, { ...query, place: query.folderId });
      const { items, nextCursor } = pageOf(rows, query);
      return { files: items, nextCursor };
    },
    get: ({ params }, caller) => ({ file: readFile(state, caller, params.fileId).value }),
    update: ({ params, headers, body: { name, folderId } }, caller) => {
      const row = readFile(state, caller, params.fileId);
      moveItem(state, caller, row, { name, place: folderId }, headers["if-match"]);
      return { file: row.value };
    },
    delete: ({ params, query, headers }, caller) => {
      const row = readFile(state, caller, params.fileId);
      if (query.permanent === true) {
        refuseChanged(row.value, headers["if-match"]);
        removeFile(state, caller, row);
        return new Reply(undefined, { status: 204 });
      }
      trashItem(state, caller, row, headers["if-match"]);
      return { file: row.value };
    },
    restore: ({ params, headers, body }, caller) => {
      const row = readFile(state, caller, params.fileId);
      restoreItem(state, caller, row, { name: body?.name, ifMatch: headers["if-match"] });
      return { file: row.value };
    },
  };
}

function removeFile(state: State, caller: Caller, { value }: FileRow): void {
  state.files.delete(value.id);
  announce(state, caller, "file.deleted", describeFile(value));
}

/** Each item is changed as by itself, files and folders alike. */
function manyHandlers(state: State): ManyHandlers {
  const each = (
    caller: Caller,
    { ids, conditions = [] }: Parameters<ManyHandlers["trashMany"]>[0]["body"],
    act: (row: FileRow | ItemRow<Folder>, ifMatch: string | undefined) => void,
  ) => ({
    results: ids.map((id) => {
      try {
        act(readItem(state, caller, id), conditions.find((condition) => condition.id === id)?.ifMatch);
        return { id, error: null };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return { id, error: error.code === "not_trashed" ? null : { code: error.code, message: error.message } };
      }
    }),
  });
  return {
    trashMany: ({ body }, caller) =>
      each(caller, body, (row, ifMatch) => {
        trashItem(state, caller, row, ifMatch);
      }),
    restoreMany: ({ body }, caller) =>
      each(caller, body, (row, ifMatch) => {
        restoreItem(state, caller, row, { name: undefined, ifMatch });
      }),
    moveMany: ({ body: { folderId, ...many } }, caller) => {
      if (folderId !== null) readFolder(state, caller, folderId);
      return each(caller, many, (row, ifMatch) => {
        moveItem(state, caller, row, { name: undefined, place: folderId }, ifMatch);
      });
    },
    commit: commitHandler(state),
  };
}

function readItem(state: State, caller: Caller, id: string): FileRow | ItemRow<Folder> {
  const row = state.files.get(id) ?? state.folders.get(id);
  if (row === undefined || !isSeen(state, caller, row)) throw new Failure("not_found", "File or folder not found");
  return row;
}

export function trashHandlers(state: State): GroupHandlers<typeof api.trash, Caller> {
  const trashed = (caller: Caller, vaultId: string | undefined): FileRow[] =>
    listItems(state, state.files, caller, { vaultId, trashed: true });
  return {
    list: ({ query }, caller) => {
      if (query.kind === "vaults") {
        const own = [...state.vaults.values()].filter(
          ({ accountId, value }) => accountId === caller.accountId && value.trashedAt !== null,
        );
        const { items, nextCursor } = pageOf(own, query);
        return { files: [], vaults: items, nextCursor };
      }
      const { items, nextCursor } = pageOf(trashed(caller, query.vaultId), query);
      return { files: items, vaults: [], nextCursor };
    },
    empty: ({ query }, caller) => {
      for (const row of trashed(caller, query.vaultId)) removeFile(state, caller, row);
      return { leftVaults: [] };
    },
  };
}
