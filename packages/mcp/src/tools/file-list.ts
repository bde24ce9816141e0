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
    const place: Place = {
      vaultId: within?.vaultId ?? vault,
      // All vaults together have no top to list.
      folderId: within?.id ?? (vault === null || trashed ? null : ROOT),
      trashed,
    };
    return depth === 1 ? await listPage(call, place, limit, cursor) : await listTree(call, place, limit, depth);
  },
});

interface Place {
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
interface Start {
  readonly kind: "folders" | "files";
  readonly skip: number;
  readonly cursor: string | null;
}

function readStart(text: string | undefined): Start {
  const [, kind, skip, cursor] = /^(d|f)(\d{1,4})~(.*)$/s.exec(text ?? "") ?? [];
  if (kind === undefined) return { kind: text === undefined ? "folders" : "files", skip: 0, cursor: text ?? null };
  return {
    kind: kind === "d" ? "folders" : "files",
    skip: Number(skip),
    cursor: cursor === "" ? null : (cursor ?? null),
  };
}

const write = ({ kind, skip, cursor }: Start): string =>
  `${kind === "folders" ? "d" : "f"}${String(skip)}~${cursor ?? ""}`;

interface Part {
  readonly rows: Row[];
  readonly start: Start;
  readonly next: Start | null;
}

async function listPage(call: Call, place: Place, limit: number, cursor: string | undefined): Promise<Outcome> {
  const parts: Part[] = [];
  // The newest files of all vaults are no place: no folder is in it.
  const first = readStart(cursor);
  let start: Start | null = place.vaultId === null && !place.trashed && first.kind === "folders" ? { ...FILES } : first;
  let room = limit;
  while (start !== null && room > 0) {
    const part: Part = await readPart(call, place, start, room);
    parts.push(part);
    room -= part.rows.length;
    start = part.next;
    if (part.next?.kind === part.start.kind) break;
  }
  const rows = parts.flatMap((part) => part.rows);
  return await outcomeOf(call, place, rows, {
    nextCursor: start === null ? null : write(start),
    cursorAfter: (shown) => {
      let left = shown;
      for (const part of parts) {
        if (left < part.rows.length) return write({ ...part.start, skip: part.start.skip + left });
        left -= part.rows.length;
      }
      return write(start ?? FILES);
    },
    unlisted: [],
  });
}

const FILES: Start = { kind: "files", skip: 0, cursor: null };

async function readPart(call: Call, place: Place, start: Start, room: number): Promise<Part> {
  const client = await call.client();
  const { signal } = call;
  const query = {
    limit: Math.min(room + start.skip, 1_000),
    ...(start.cursor === null ? {} : { cursor: start.cursor }),
    ...(place.vaultId === null ? {} : { vaultId: place.vaultId }),
    ...(place.trashed ? { trashed: true } : {}),
  };
  const at = place.folderId;
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
async function listTree(call: Call, place: Place, limit: number, depth: number): Promise<Outcome> {
  const rows: Row[] = [];
  const unlisted: string[] = [];
  let level: { place: Place; prefix: string }[] = [{ place, prefix: "" }];
  for (let at = 0; at < depth && level.length > 0; at += 1) {
    const below: typeof level = [];
    for (const each of level) {
      const { folderId } = each.place;
      if (rows.length >= limit) {
        if (folderId !== null) unlisted.push(folderId);
        continue;
      }
      let start: Start | null = { kind: "folders", skip: 0, cursor: null };
      while (start !== null && rows.length < limit) {
        const part: Part = await readPart(call, each.place, start, limit - rows.length);
        for (const { item, name } of part.rows) {
          rows.push({ item, name: each.prefix + name });
          if (!isFile(item)) below.push({ place: { ...each.place, folderId: item.id }, prefix: each.prefix + name });
        }
        start = part.next;
      }
      if (start !== null && folderId !== null) unlisted.push(folderId);
    }
    level = below;
  }
  return await outcomeOf(call, place, rows, { nextCursor: null, unlisted });
}

interface Rest {
  readonly nextCursor: string | null;
  readonly cursorAfter?: (rows: number) => string;
  readonly unlisted: readonly string[];
}

const MOST_UNLISTED = 20;

async function outcomeOf(call: Call, place: Place, rows: readonly Row[], rest: Rest): Promise<Outcome> {
  const short = shortIds(rows.flatMap(({ item }) => [item.id, item.vaultId]));
  const isWide = place.vaultId === null;
  const closed = rows.map(({ item }) => item).filter((item): item is File => isFile(item) && whyClosed(item) !== null);
  const files = rows.filter(({ item }) => isFile(item)).length;
  const more = rest.nextCursor === null && rest.unlisted.length === 0 ? "" : ", and there is more";
  return {
    summary: `${String(rows.length - files)} folders, ${String(files)} files${more}.`,
    facts: {
      vaultId: place.vaultId,
      folderId: place.folderId === ROOT ? null : place.folderId,
      nextCursor: token(rest.nextCursor),
      ...(rest.unlisted.length === 0
        ? {}
        : { unlisted: rest.unlisted.slice(0, MOST_UNLISTED), nextStep: "List these folders one by one." }),
      ...(await closedFacts(call, closed)),
    },
    table: {
      name: "files",
      columns: ["id", "bytes", "modified", ...(isWide ? ["vaultId"] : []), "name"],
      rows: rows.map(({ item, name }) => rowOf(item, name, short, isWide)),
      ...(rest.cursorAfter === undefined ? {} : { cursorAfter: rest.cursorAfter }),
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
