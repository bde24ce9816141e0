import { api } from "@coffer/contract";
import type { File } from "@coffer/sdk";
import { TaskFailure, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { defineTool } from "../tool.ts";
import { moment, token } from "../words.ts";
import { closedStep, fileFacts, findOwnFile, whyClosed } from "./own-file.ts";
import { pageInput } from "./page-input.ts";

const query = api.files.list.query.shape;

export const fileTools = [
  defineTool({
    name: "file_list",
    title: "List files",
    description: "Files of a vault, a folder, or all, with id, size, time and name, newest first.",
    endpoints: [api.files.list],
    input: {
      vaultId: query.vaultId,
      folderId: query.folderId,
      nameContains: z.optional(z.string().check(z.minLength(1), z.maxLength(255))),
      ...pageInput,
    },
    describe: {
      vaultId: "default: all vaults",
      folderId: "id, or root: the top; default: all",
      nameContains: "part of the name; default: all",
    },
    run: async ({ nameContains, limit, cursor, ...place }, call) => {
      const found = await listFiles(call, place, { nameContains: nameContains ?? null, limit, cursor: cursor ?? null });
      return {
        summary: `${String(found.files.length)} files${nameContains === undefined ? "" : ` among ${String(found.seen)} looked at`}.`,
        facts: { nextCursor: token(found.nextCursor), ...(await closedFacts(call, found.closed)) },
        table: { name: "files", columns: ["fileId", "bytes", "modified", "name"], rows: found.files.map(rowOf) },
      };
    },
  }),
  defineTool({
    name: "file_get",
    title: "Look at a file",
    description: "One file's metadata: name, size, SHA-256, type, place, times. Not its content.",
    endpoints: [api.files.get],
    input: { fileId: api.files.get.params.shape.fileId },
    run: async ({ fileId }, call) => {
      const file = await findOwnFile(call, fileId);
      const closed = whyClosed(file) === null ? {} : await closedStep(call, file);
      return { summary: "Found.", facts: { ...fileFacts(file), ...closed } };
    },
  }),
  defineTool({
    name: "file_delete",
    title: "Move a file to the trash",
    description: "Moves a file to the trash, where it stays 30 days. trash_restore brings it back.",
    endpoints: [api.files.get, api.files.delete],
    input: { fileId: api.files.delete.params.shape.fileId },
    run: async ({ fileId }, call) => {
      const before = await findOwnFile(call, fileId);
      const client = await call.client();
      const file = await client.files.delete(fileId, { signal: call.signal });
      if (file === null) throw new TaskFailure("unexpected_answer");
      // The caller already has the names and sizes of a shared vault's files: the service cannot read them.
      return { summary: "The file is in the trash.", facts: fileFacts({ ...before, trashedAt: file.trashedAt }) };
    },
  }),
] as const;

type Place = { readonly vaultId?: string | undefined; readonly folderId?: string | undefined };
type Search = { readonly nameContains: string | null; readonly limit: number; readonly cursor: string | null };

/** This search by part of a name reads page by page. It makes so many requests at most and then returns a cursor. */
const MOST_PAGES = 20;

async function listFiles(
  call: Call,
  place: Place,
  search: Search,
): Promise<{ files: File[]; nextCursor: string | null; seen: number; closed: File[] }> {
  const client = await call.client();
  const files: File[] = [];
  const closed: File[] = [];
  let cursor = search.cursor;
  let seen = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { ...given(place), limit: search.limit - files.length, ...(cursor === null ? {} : { cursor }) };
    const answer = await client.files.list(query, { signal: call.signal });
    seen += answer.files.length;
    files.push(...answer.files.filter((file) => matches(file, search.nameContains)));
    closed.push(...answer.files.filter((file) => whyClosed(file) !== null));
    cursor = answer.nextCursor;
    if (cursor === null || files.length >= search.limit || search.nameContains === null) break;
  }
  return { files, nextCursor: cursor, seen, closed };
}

function given(place: Place): { vaultId?: string; folderId?: string } {
  const { vaultId, folderId } = place;
  return { ...(vaultId === undefined ? {} : { vaultId }), ...(folderId === undefined ? {} : { folderId }) };
}

function matches(file: File, part: string | null): boolean {
  return part === null || file.name.toLowerCase().includes(part.normalize("NFC").toLowerCase());
}

/** This server can read neither name nor size of a closed file. A model would take the service's placeholders for the real ones. */
function rowOf(file: File): Fact[] {
  const open = whyClosed(file) === null;
  return [file.id, open ? file.size : null, moment(file.updatedAt), open ? untrusted(file.name) : null];
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
