import { api } from "@coffer/contract";
import type { FoundFile } from "@coffer/sdk";
import { findAuthor, findFolder, parseMoment, shortIds, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Fact } from "../result.ts";
import { FLAG, TEXT, TEXTS } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, token } from "../fact-values.ts";
import { cursorAfter, pageInput, readCursor } from "./page-input.ts";
import { folderRef, namedVault, vaultRef } from "./reference-input.ts";
import { LOOKS_BACK } from "./times.ts";

/** Time for building the local index of names. The next call goes on. */
const BUILD_MS = 10_000;
const short255 = z.string().check(z.maxLength(255));

export const fileSearch = defineTool({
  name: "file_search",
  profile: "read",
  title: "Search files",
  description:
    "Finds files by words of names, type, date, author and place, in all vaults you can read. If complete is false, not all was looked at: call again with nextCursor.",
  endpoints: [api.files.search],
  input: {
    query: z.optional(short255),
    vaultId: z.optional(vaultRef),
    folder: z.optional(folderRef),
    type: z.optional(short255),
    author: z.optional(short255),
    since: z.optional(short255),
    until: z.optional(short255),
    trashed: z._default(z.boolean(), false),
    ...pageInput,
  },
  describe: {
    query: "words or beginnings of words; default: all files",
    vaultId: "id or name; default: all",
    folder: "id or path, with all below; default: all",
    type: "like image/ or text/plain; default: any",
    author: "key id, chain address or me; default: any",
    since: `made since; ${LOOKS_BACK}; default: ever`,
    until: "made before; default: now",
    trashed: "search the trash",
  },
  output: { complete: FLAG, nextCursor: TEXT, unreadable: TEXT, unsearched: TEXTS, nextStep: TEXT },
  table: "files",
  run: async ({ query, vaultId, folder, type, author, since, until, trashed, limit, cursor }, call) => {
    const vault = await namedVault(call, vaultId);
    const within = folder === undefined ? null : await findFolder(call, vault, folder);
    const searchedVault = within?.vaultId ?? vault;
    const start = readCursor(cursor);
    const by = author === undefined ? null : await findAuthor(call, author);
    const client = await call.client();
    const page = await client.search(
      {
        limit: limit + start.skip,
        ...(start.cursor === null ? {} : { cursor: start.cursor }),
        ...(query === undefined ? {} : { q: query }),
        ...(searchedVault === null ? {} : { vaultId: searchedVault }),
        ...(within === null ? {} : { folderId: within.id }),
        ...(type === undefined ? {} : { type: type.toLowerCase() }),
        ...(by === null ? {} : { by }),
        ...(since === undefined ? {} : { since: parseMoment("since", since, "UTC") }),
        ...(until === undefined ? {} : { until: parseMoment("until", until, "UTC") }),
        ...(trashed ? { trashed } : {}),
      },
      { signal: call.signal, buildFor: BUILD_MS },
    );
    const files = page.files.slice(start.skip);
    const isFinished = page.complete && page.nextCursor === null;
    const short = shortIds(files.flatMap(({ id, vaultId }) => [id, vaultId]));
    return {
      summary: summaryOf(files.length, page.complete, page.nextCursor),
      facts: {
        complete: page.complete,
        nextCursor: token(page.nextCursor),
        ...(page.unreadable === 0 ? {} : { unreadable: `${String(page.unreadable)} files whose names do not verify` }),
        ...(page.unsearched.length === 0
          ? {}
          : { unsearched: page.unsearched.map(({ vaultId, reason }) => `${vaultId} ${reason}`) }),
        ...(isFinished || page.complete ? {} : { nextStep: nextStepOf(page.nextCursor) }),
      },
      table: {
        name: "files",
        columns: ["id", "bytes", "modified", "vaultId", "name"],
        rows: files.map((file) => rowOf(file, short)),
        cursorAfter: cursorAfter(start),
      },
    };
  },
});

/** "No files" is only told when all was looked at. */
function summaryOf(count: number, complete: boolean, nextCursor: string | null): string {
  const countText = `${String(count)} files`;
  if (!complete) return `${count === 0 ? "None yet" : countText}: not finished, not all was looked at.`;
  return nextCursor === null ? `${countText}, all was looked at.` : `${countText} on this page, and there are more.`;
}

function nextStepOf(nextCursor: string | null): string {
  return nextCursor === null
    ? "unsearched names the vaults that could not be looked at; vault_access_check explains why."
    : "Call again with nextCursor.";
}

function rowOf(file: FoundFile, short: (id: string) => string): Fact[] {
  return [short(file.id), file.size, minute(file.updatedAt), short(file.vaultId), untrusted(file.name)];
}
