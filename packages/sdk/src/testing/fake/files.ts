import type { api, File } from "@coffer/contract";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { record } from "./audit.ts";
import {
  answerContent,
  checkDigests,
  createFile,
  refuseTakenName,
  refuseOtherTag,
  replaceContent,
  type NewContent,
} from "./content.ts";
import { objectOf } from "./event-objects.ts";
import { isLiveFolder } from "./folders.ts";
import { parseFormFile } from "./form-file.ts";
import {
  findPlace,
  hasScope,
  isLiveVault,
  pageOf,
  reaches,
  readRow,
  readVault,
  timestamp,
  type Caller,
  type FileRow,
  type State,
} from "./state.ts";
import { ownVaults } from "./vaults.ts";

type FileHandlers = GroupHandlers<typeof api.files, Caller>;

export function fileHandlers(state: State): FileHandlers {
  return { ...contentHandlers(state), ...rowHandlers(state) };
}

/** What carries bytes. */
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
    content: ({ params, headers }, caller) => answerContent(read(caller, params.fileId), headers),
    contentHead: async ({ params, headers }, caller) => {
      const { status, headers: answered } = await answerContent(read(caller, params.fileId), headers);
      return new Reply(undefined, { ...(status === undefined ? {} : { status }), headers: answered });
    },
    replace: async ({ params, headers, body }, caller) => {
      read(caller, params.fileId);
      await checkDigests(body, [headers["content-digest"], headers["repr-digest"]]);
      const content: NewContent = { bytes: body, contentType: headers["content-type"] };
      return { file: await replaceContent(state, caller, params.fileId, headers["if-match"] ?? null, content) };
    },
  };
}

function rowHandlers(state: State): Omit<FileHandlers, "upload" | "content" | "contentHead" | "replace"> {
  const read = (caller: Caller, id: string): FileRow => readRow(state, state.files, caller, id, "File");
  return {
    list: ({ query }, caller) => {
      if (query.vaultId !== undefined) readVault(state, caller, query.vaultId);
      if (query.folderId !== undefined && query.folderId !== "root")
        readRow(state, state.folders, caller, query.folderId, "Folder");
      const { items, nextCursor } = pageOf(
        [...state.files.values()].filter((row) => matches(state, row, caller, query)),
        query,
      );
      return { files: items, nextCursor };
    },
    get: ({ params }, caller) => ({ file: read(caller, params.fileId).value }),
    update: ({ params, headers, body }, caller) => {
      const row = read(caller, params.fileId);
      if (row.value.trashedAt !== null) throw new Failure("trashed");
      refuseOtherTag(`"${String(row.value.revision)}"`, headers["if-match"] ?? null);
      row.value = moved(state, caller, row.value, body);
      return { file: row.value };
    },
    delete: ({ params, query }, caller) => {
      const row = read(caller, params.fileId);
      if (query.permanent === true) {
        if (!hasScope(caller, "files:write")) throw new Failure("owner_only");
        state.files.delete(params.fileId);
        return new Reply(undefined, { status: 204 });
      }
      if (row.value.trashedAt === null)
        row.value = { ...row.value, trashedAt: timestamp(state), revision: row.value.revision + 1 };
      return { file: row.value };
    },
    restore: ({ params, body }, caller) => {
      const row = read(caller, params.fileId);
      if (row.value.trashedAt === null) throw new Failure("not_trashed");
      const folderId = isLiveFolder(state, row.value.folderId) ? row.value.folderId : null;
      const next: File = { ...row.value, name: body?.name ?? row.value.name, folderId, trashedAt: null };
      next.revision += 1;
      refuseTakenName(state, next, next.id);
      row.value = next;
      row.trashedWith = null;
      return { file: next };
    },
  };
}

export function trashHandlers(state: State): GroupHandlers<typeof api.trash, Caller> {
  const trashed = (caller: Caller, vaultId: string | undefined): FileRow[] => {
    if (vaultId !== undefined) readVault(state, caller, vaultId);
    return [...state.files.values()].filter((row) => matches(state, row, caller, { vaultId, trashed: true }));
  };
  return {
    list: ({ query }, caller) => {
      if (query.kind === "vaults") {
        if (query.vaultId !== undefined) throw new Failure("validation_failed", "query.vaultId: not with kind=vaults");
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

interface Filter {
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
}

function matches(state: State, { accountId, value }: FileRow, caller: Caller, filter: Filter): boolean {
  if (accountId !== caller.accountId || !reaches(caller, value.vaultId)) return false;
  if (!isLiveVault(state, value.vaultId)) return false;
  if ((value.trashedAt !== null) !== (filter.trashed ?? false)) return false;
  if (filter.vaultId !== undefined && filter.vaultId !== value.vaultId) return false;
  if (filter.folderId !== undefined && (filter.folderId === "root" ? null : filter.folderId) !== value.folderId)
    return false;
  return filter.name === undefined || filter.name === value.name;
}

function moved(
  state: State,
  caller: Caller,
  file: File,
  change: { readonly name?: string | undefined; readonly folderId?: string | null | undefined },
): File {
  const folderId =
    change.folderId === undefined ? file.folderId : findPlace(state, caller, file.vaultId, change.folderId).folderId;
  const name = change.name ?? file.name;
  if (name === file.name && folderId === file.folderId) return file;
  const next = { ...file, name, folderId, updatedAt: timestamp(state), revision: file.revision + 1 };
  refuseTakenName(state, next, file.id);
  return next;
}
