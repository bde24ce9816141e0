import { api } from "@coffer/contract";
import type { Author, File, FileVersion } from "@coffer/sdk";
import { findFile, shortIds, toFailure, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact, Outcome } from "../result.ts";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { minute, word } from "../fact-values.ts";
import { closedStep, fileFacts, FILE_OUTPUT, whyClosed } from "./file-facts.ts";
import { itemRef, namedVault, vaultRef } from "./reference-input.ts";

const MOST_FILES = 20;
/** Versions of one file that an answer shows. */
const MOST_VERSIONS = 20;

export const fileGet = defineTool({
  name: "file_get",
  profile: "read",
  title: "File details and versions",
  description:
    "Details of up to 20 files: name, size, SHA-256, type, place, times, author. For one file its version history too.",
  endpoints: [api.files.get, api.files.list, api.files.versions],
  input: {
    files: z.array(itemRef).check(z.minLength(1), z.maxLength(MOST_FILES)),
    vaultId: z.optional(vaultRef),
  },
  describe: { vaultId: "id or name, for paths; default: none" },
  output: { ...FILE_OUTPUT, author: TEXT, versionId: TEXT, cause: TEXT, nextStep: TEXT },
  table: "rows",
  run: async ({ files, vaultId }, call) => {
    const vault = await namedVault(call, vaultId);
    const [first = "", ...others] = files;
    return others.length === 0
      ? await showOne(call, await findFile(call, vault, first))
      : await showMany(call, vault, files);
  },
});

async function showOne(call: Call, file: File): Promise<Outcome> {
  if (whyClosed(file) !== null)
    return {
      summary: "Found, and closed to this server.",
      facts: { ...fileFacts(file), ...(await closedStep(call, file)) },
    };
  const client = await call.client();
  const { versions, nextCursor } = await client.files.versions(
    file.id,
    { limit: MOST_VERSIONS },
    { signal: call.signal },
  );
  const more = nextCursor === null ? "" : " The newest are shown.";
  return {
    summary: `Found, with ${String(versions.length)} versions.${more}`,
    facts: {
      ...fileFacts(file),
      versionId: file.versionId,
      author: authorOf(file.updatedBy),
    },
    table: {
      name: "rows",
      columns: ["version", "versionId", "bytes", "made", "how", "author"],
      rows: versions.map((version) => versionRow(version)),
    },
  };
}

function versionRow(version: FileVersion): Fact[] {
  const { number, versionId, size, createdAt, how, author, unreadable } = version;
  const bytes = unreadable === undefined ? size : null;
  return [
    number,
    versionId,
    bytes,
    minute(createdAt),
    word(how),
    unreadable === undefined ? authorOf(author) : word(unreadable),
  ];
}

/** `verified`: this machine checked the signature of that address. Any other author is the service's word. */
function authorOf(author: Author | null): Fact {
  if (author === null) return null;
  const { chainAddress, name, id, kind } = author;
  if (author.verified === true && chainAddress !== null) return `${chainAddress} verified`;
  return name === null ? (id ?? chainAddress ?? word(kind)) : untrusted(name);
}

async function showMany(call: Call, vault: string | null, names: readonly string[]): Promise<Outcome> {
  const results = await Promise.all(names.map((name) => findOrWhyNot(call, vault, name)));
  const files = results.filter((each): each is File => typeof each !== "string");
  const short = shortIds(files.flatMap(({ id, vaultId }) => [id, vaultId]));
  return {
    summary: `${String(files.length)} of ${String(names.length)} files found.`,
    facts: {},
    table: {
      name: "rows",
      columns: ["id", "bytes", "modified", "vaultId", "author", "name", "problem"],
      rows: results.map((each, index) =>
        typeof each === "string" ? [...EMPTY, untrusted(names[index] ?? ""), each] : fileRow(each, short),
      ),
    },
  };
}

const EMPTY: readonly Fact[] = [null, null, null, null, null];

async function findOrWhyNot(call: Call, vault: string | null, name: string): Promise<File | string> {
  try {
    return await findFile(call, vault, name);
  } catch (error) {
    const failure = toFailure(error, call.signal);
    // What is wrong with all of them is a failure of the call.
    if (!["not_found", "ambiguous", "vault_required", "invalid_arguments"].includes(failure.code)) throw failure;
    return failure.code;
  }
}

function fileRow(file: File, short: (id: string) => string): Fact[] {
  const closed = whyClosed(file);
  return [
    ...[short(file.id), closed === null ? file.size : null, minute(file.updatedAt), short(file.vaultId)],
    ...[authorOf(file.updatedBy), closed === null ? untrusted(file.name) : null, closed === null ? null : word(closed)],
  ];
}
