import type { api } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { record } from "./audit.ts";
import { batchHandler } from "./batches.ts";
import { answerContent, checkDigests, createFile, replaceContent, type NewContent } from "./content.ts";
import { fileEntryHandlers } from "./entries.ts";
import { folderHandlers } from "./folders.ts";
import { actHandlers } from "./item-acts.ts";
import { objectOf } from "./event-objects.ts";
import { parseFormFile } from "./form-file.ts";
import { listItems, moveItem, pageOfItems, refuseChanged, restoreItem, setTrashed, touch } from "./items.ts";
import { searchHandlers } from "./search.ts";
import { hasScope, pageOf, reaches, readRow, timestamp, type Caller, type FileRow, type State } from "./state.ts";
import { ownVaults } from "./vaults.ts";
import { atVersion, versionHandlers } from "./versions.ts";

type FileHandlers = GroupHandlers<typeof api.files, Caller>;

export function fileHandlers(state: State): FileHandlers {
  const rows = rowHandlers(state);
  return {
    ...contentHandlers(state),
    ...rows,
    ...versionHandlers(state),
    ...fileEntryHandlers(state),
    ...actHandlers(state, { files: rows, folders: folderHandlers(state) }),
    ...searchHandlers(state),
    batch: batchHandler(state),
  };
}

/** Calls that carry bytes. */
function contentHandlers(state: State): Pick<FileHandlers, "upload" | "content" | "contentHead" | "replace"> {
  const read = (caller: Caller, id: string): FileRow => readRow(state, state.files, caller, id, "File");
  return {
    upload: async ({ query, headers, body }, caller) => {
      const part = await parseFormFile(body, headers["content-type"]);
      const name = query.name ?? part.name;
      if (name === null) throw new Failure("validation_failed", "query.name: required");
      await checkDigests(body, [headers["content-digest"], headers["repr-digest"]]);
      const place = {
        vaultId: query.vaultId,
        folderId: query.folderId,
        name,
        ifAbsent: headers["if-none-match"] === "*",
      };
      return { file: await createFile(state, caller, place, part) };
    },
    content: ({ params, query, headers }, caller) =>
      answerContent(atVersion(state, read(caller, params.fileId), query.versionId), headers),
    contentHead: async ({ params, query, headers }, caller) => {
      const row = atVersion(state, read(caller, params.fileId), query.versionId);
      const { status, headers: answered } = await answerContent(row, headers);
      return new Reply(undefined, { ...(status === undefined ? {} : { status }), headers: answered });
    },
    replace: async ({ params, query, headers, body }, caller) => {
      if (query.keep === false && caller.key.value.accessLevel !== "owner") throw new Failure("owner_only");
      read(caller, params.fileId);
      await checkDigests(body, [headers["content-digest"], headers["repr-digest"]]);
      const content: NewContent = { bytes: body, contentType: headers["content-type"] };
      const ifMatch = headers["if-match"] ?? null;
      return { file: await replaceContent(state, caller, params.fileId, ifMatch, content, query.keep) };
    },
  };
}

function rowHandlers(state: State): Pick<FileHandlers, "list" | "get" | "update" | "delete" | "restore"> {
  const read = (caller: Caller, id: string): FileRow => readRow(state, state.files, caller, id, "File");
  return {
    list: ({ query }, caller) => {
      const { items, nextCursor } = pageOfItems(state, state.files, caller, { ...query, place: query.folderId });
      return { files: items, nextCursor };
    },
    get: ({ params }, caller) => ({ file: read(caller, params.fileId).value }),
    update: ({ params, headers, body: { name, folderId: place } }, caller) => {
      const row = read(caller, params.fileId);
      return { file: moveItem(state, state.files, caller, row, { name, place }, headers["if-match"]) };
    },
    delete: ({ params, query, headers }, caller) => {
      const row = read(caller, params.fileId);
      if (query.permanent === true) {
        if (!hasScope(caller, "files:write")) throw new Failure("owner_only");
        refuseChanged(row.value, headers["if-match"]);
        state.files.delete(params.fileId);
        return new Reply(undefined, { status: 204 });
      }
      if (row.value.trashedAt === null) {
        refuseChanged(row.value, headers["if-match"]);
        setTrashed(row, timestamp(state), null);
        touch(state, caller, row);
      }
      return { file: row.value };
    },
    restore: ({ params, headers, body }, caller) => {
      const row = read(caller, params.fileId);
      const wanted = { name: body?.name, ifMatch: headers["if-match"] };
      const file = restoreItem(state, state.files, caller, row, wanted, () => {
        setTrashed(row, null, null);
      });
      return { file };
    },
  };
}

export function trashHandlers(state: State): GroupHandlers<typeof api.trash, Caller> {
  const trashed = (caller: Caller, vaultId: string | undefined): FileRow[] =>
    listItems(state, state.files, caller, { vaultId, trashed: true });
  return {
    list: ({ query }, caller) => {
      if (query.kind === "vaults") {
        if (query.vaultId !== undefined)
          throw new Failure("validation_failed", "query.vaultId: not allowed with kind=vaults");
        const own = ownVaults(state, caller.accountId).filter(
          ({ value }) => value.trashedAt !== null && reaches(caller, value.id),
        );
        const { items, nextCursor } = pageOf(own, query);
        return { files: [], vaults: items, nextCursor };
      }
      const { items, nextCursor } = pageOf(trashed(caller, query.vaultId), query);
      return { files: items, vaults: [], nextCursor };
    },
    empty: ({ query }, caller) => {
      for (const { value } of trashed(caller, query.vaultId)) {
        const target = { type: "file", id: value.id };
        const before = objectOf(state, "file.deleted", target);
        state.files.delete(value.id);
        record(state, caller, caller.accountId, "file.deleted", { ...target, vaultId: value.vaultId }, { before });
      }
      return { leftVaults: [] };
    },
  };
}
