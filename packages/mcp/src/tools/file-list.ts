import { api } from "@coffer/contract";
import type { File, Folder } from "@coffer/sdk";
import { findFolder, ROOT, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact, Outcome } from "../result.ts";
import { TEXT, TEXTS } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, token } from "../fact-values.ts";
import { closedStep, whyClosed } from "./file-facts.ts";
import { pageInput } from "./page-input.ts";
import { folderRef, namedVault, vaultRef } from "./reference-input.ts";

const MOST_DEPTH = 5;

export const fileList = defineTool({
  name: "file_list",
  profile: "read",
  title: "List a folder",
  description:
    "Folders and files of a place: id, size, time, name (folders end in /). Without vaultId: the newest files of all vaults. file_search finds files by name.",
  endpoints: [api.files.list, api.folders.list],
  input: {
    vaultId: z.optional(vaultRef),
    folder: z.optional(folderRef),
    depth: z._default(z.int().check(z.gte(1), z.lte(MOST_DEPTH)), 1),
    trashed: z._default(z.boolean(), false),
    ...pageInput,
  },
  describe: {
    vaultId: "id or name; default: all",
    depth: "levels of folders",
    trashed: "what is in the trash",
  },
  output: {
    vaultId: TEXT,
    folderId: TEXT,
    nextCursor: TEXT,
    closed: TEXT,
    cause: TEXT,
    nextStep: TEXT,
    unlisted: TEXTS,
  },
  table: "files",
  run: async ({ vaultId, folder, depth, trashed, limit, cursor }, call) => {
    const vault = await namedVault(call, vaultId);
    const within = folder === undefined ? null : await findFolder(call, vault, folder);
    const listed: ListedFolder = {
      vaultId: within?.vaultId ?? vault,
      // All vaults together have no top to list.
      folderId: within?.id ?? (vault === null || trashed ? null : ROOT),
      trashed,
    };
    return depth === 1 ? await listPage(call, listed, limit, cursor) : await listTree(call, listed, limit, depth);
  },
});

interface ListedFolder {
  /** null: all vaults. */
  readonly vaultId: string | null;
  /** null: all folders, or the trash. */
  readonly folderId: string | null;
  readonly trashed: boolean;
}

interface Row {
  readonly item: File | Folder;
  /** How it is shown: its name, after the names of the folders that were walked. */
  readonly name: string;
}

/** A place in a list: folders come before files. */
interface PageStart {
  readonly kind: "folders" | "files";
  readonly skip: number;
  readonly cursor: string | null;
}

function readStart(text: string | undefined): PageStart {
  const [, kind, skip, cursor] = /^(d|f)(\d{1,4})~(.*)$/s.exec(text ?? "") ?? [];
  if (kind === undefined) return { kind: text === undefined ? "folders" : "files", skip: 0, cursor: text ?? null };
  return {
    kind: kind === "d" ? "folders" : "files",
    skip: Number(skip),
    cursor: cursor === "" ? null : (cursor ?? null),
  };
}

const write = ({ kind, skip, cursor }: PageStart): string =>
  `${kind === "folders" ? "d" : "f"}${String(skip)}~${cursor ?? ""}`;

interface ListedPage {
  readonly rows: Row[];
  readonly start: PageStart;
  readonly next: PageStart | null;
}

async function listPage(call: Call, listed: ListedFolder, limit: number, cursor: string | undefined): Promise<Outcome> {
  const pages: ListedPage[] = [];
  // The newest files of all vaults are no place: no folder is in it.
  const first = readStart(cursor);
  let start: PageStart | null =
    listed.vaultId === null && !listed.trashed && first.kind === "folders" ? { ...FILES } : first;
  let room = limit;
  while (start !== null && room > 0) {
    const page: ListedPage = await readListedPage(call, listed, start, room);
    pages.push(page);
    room -= page.rows.length;
    start = page.next;
    if (page.next?.kind === page.start.kind) break;
  }
  const rows = pages.flatMap((page) => page.rows);
  return await outcomeOf(call, listed, rows, {
    nextCursor: start === null ? null : write(start),
    cursorAfter: (rowCount) => {
      let remaining = rowCount;
      for (const page of pages) {
        if (remaining < page.rows.length) return write({ ...page.start, skip: page.start.skip + remaining });
        remaining -= page.rows.length;
      }
      return write(start ?? FILES);
    },
    unlisted: [],
  });
}

const FILES: PageStart = { kind: "files", skip: 0, cursor: null };

async function readListedPage(call: Call, listed: ListedFolder, start: PageStart, room: number): Promise<ListedPage> {
  const client = await call.client();
  const { signal } = call;
  const query = {
    limit: Math.min(room + start.skip, 1_000),
    ...(start.cursor === null ? {} : { cursor: start.cursor }),
    ...(listed.vaultId === null ? {} : { vaultId: listed.vaultId }),
    ...(listed.trashed ? { trashed: true } : {}),
  };
  const at = listed.folderId;
  if (start.kind === "files") {
    const page = await client.files.list({ ...query, ...(at === null ? {} : { folderId: at }) }, { signal });
    const rows = page.files.map((item) => ({ item, name: item.name })).slice(start.skip);
    return { rows, start, next: page.nextCursor === null ? null : { ...FILES, cursor: page.nextCursor } };
  }
  const page = await client.folders.list({ ...query, ...(at === null ? {} : { parentId: at }) }, { signal });
  const rows = page.folders.map((item) => ({ item, name: `${item.name}/` })).slice(start.skip);
  return {
    rows,
    start,
    next: page.nextCursor === null ? FILES : { kind: "folders", skip: 0, cursor: page.nextCursor },
  };
}

/** Level by level, until the limit. Folders that it did not come to are named. */
async function listTree(call: Call, listed: ListedFolder, limit: number, depth: number): Promise<Outcome> {
  const rows: Row[] = [];
  const unlisted: string[] = [];
  let level: { listed: ListedFolder; prefix: string }[] = [{ listed: listed, prefix: "" }];
  for (let at = 0; at < depth && level.length > 0; at += 1) {
    const below: typeof level = [];
    for (const each of level) {
      const { folderId } = each.listed;
      if (rows.length >= limit) {
        if (folderId !== null) unlisted.push(folderId);
        continue;
      }
      let start: PageStart | null = { kind: "folders", skip: 0, cursor: null };
      while (start !== null && rows.length < limit) {
        const page: ListedPage = await readListedPage(call, each.listed, start, limit - rows.length);
        for (const { item, name } of page.rows) {
          rows.push({ item, name: each.prefix + name });
          if (!isFile(item)) below.push({ listed: { ...each.listed, folderId: item.id }, prefix: each.prefix + name });
        }
        start = page.next;
      }
      if (start !== null && folderId !== null) unlisted.push(folderId);
    }
    level = below;
  }
  return await outcomeOf(call, listed, rows, { nextCursor: null, unlisted });
}

interface PageEnd {
  readonly nextCursor: string | null;
  readonly cursorAfter?: (rows: number) => string;
  readonly unlisted: readonly string[];
}

const MOST_UNLISTED = 20;

async function outcomeOf(call: Call, listed: ListedFolder, rows: readonly Row[], end: PageEnd): Promise<Outcome> {
  const short = shortIds(rows.flatMap(({ item }) => [item.id, item.vaultId]));
  const isWide = listed.vaultId === null;
  const closed = rows.map(({ item }) => item).filter((item): item is File => isFile(item) && whyClosed(item) !== null);
  const files = rows.filter(({ item }) => isFile(item)).length;
  const more = end.nextCursor === null && end.unlisted.length === 0 ? "" : ", and there is more";
  return {
    summary: `${String(rows.length - files)} folders, ${String(files)} files${more}.`,
    facts: {
      vaultId: listed.vaultId,
      folderId: listed.folderId === ROOT ? null : listed.folderId,
      nextCursor: token(end.nextCursor),
      ...(end.unlisted.length === 0
        ? {}
        : { unlisted: end.unlisted.slice(0, MOST_UNLISTED), nextStep: "List these folders one by one." }),
      ...(await closedFacts(call, closed)),
    },
    table: {
      name: "files",
      columns: ["id", "bytes", "modified", ...(isWide ? ["vaultId"] : []), "name"],
      rows: rows.map(({ item, name }) => rowOf(item, name, short, isWide)),
      ...(end.cursorAfter === undefined ? {} : { cursorAfter: end.cursorAfter }),
    },
  };
}

function isFile(item: File | Folder): item is File {
  return "size" in item;
}

/** This server can read neither name nor size of a closed file. A model would take the service's placeholders for the real ones. */
function rowOf(item: File | Folder, name: string, short: (id: string) => string, isWide: boolean): Fact[] {
  const open = isFile(item) ? whyClosed(item) === null : item.name !== "";
  const size = isFile(item) && open ? item.size : null;
  return [
    ...[short(item.id), size, minute(item.updatedAt)],
    ...(isWide ? [short(item.vaultId)] : []),
    open ? untrusted(name) : null,
  ];
}

/** Without it a model takes a name that it cannot see for a file that does not exist. */
async function closedFacts(call: Call, closed: readonly File[]): Promise<Record<string, Fact>> {
  const [first] = closed;
  if (first === undefined) return {};
  return {
    closed: `${String(closed.length)} files: encrypted, name and size not shown`,
    ...(await closedStep(call, first)),
  };
}
