import { findAuthor, untrusted } from "@coffer/tasks";
import type { FoundFile } from "@coffer/sdk";
import type { Context } from "../../context.ts";
import { argument, command, count, text, toggle } from "../../declarations.ts";
import { exitOfSearch } from "../../exit-codes.ts";
import { listing } from "../../result.ts";
import { timeText } from "../../terminal/visible.ts";
import { boundOf, LOOKS_BACK } from "../../times.ts";
import { plain } from "./item-rows.ts";
import { folderAt, VAULT, vaultIdOf } from "./vault-paths.ts";

export default command({
  brief: "Find files by words of their names, type, date and author",
  description: `It looks in every vault that you can read. Names of shared vaults are searched on this machine. Where not all was looked at, it says so and exits with 5. ${LOOKS_BACK}`,
  examples: [
    { line: "coffer search resume 2027", does: "both words, or beginnings of words" },
    { line: "coffer search --type image/ --since 7d --vault Team", does: "pictures of the last week" },
  ],
  flags: {
    vault: VAULT,
    folder: text("Only in this folder and below: VAULT:PATH or an id", { placeholder: "PLACE" }),
    type: text("Only this media type, or its beginning: text/plain, image/", { placeholder: "TYPE" }),
    author: text("Only files by this key (its id), this chain address, or me", { placeholder: "WHO" }),
    since: text("Only files made since this time", { placeholder: "TIME" }),
    until: text("Only files made before this time", { placeholder: "TIME" }),
    trashed: toggle("Search the trash instead"),
    limit: count("At most so many files; 100 without it"),
  },
  args: { each: argument("word", "Word of the name, or its beginning"), least: 0 } as const,
  isList: true,
  run: async (context, flags, words) => {
    const { limit = 100 } = flags;
    const query = { ...(await queryOf(context, flags)), ...(words.length === 0 ? {} : { q: words.join(" ") }) };
    const { files, ...facts } = await searchAll(context, query, limit);
    return listing({
      name: "files",
      items: files,
      otherFields: facts,
      columns: [
        { title: "id", of: ({ id }) => id.slice(0, 8) },
        { title: "bytes", of: ({ size }) => size, isNumber: true },
        { title: "modified", of: ({ updatedAt }) => timeText(updatedAt) },
        { title: "vault", of: ({ vaultId }) => vaultId.slice(0, 8) },
        { title: "name", of: ({ name }) => untrusted(name) },
      ],
      empty: facts.complete ? "No such files." : "None yet: not all was looked at.",
      after: [
        ...facts.unsearched.map(({ reason, vaultId }) => `not searched: vault ${vaultId} (${reason})`),
        ...(facts.unreadable === 0
          ? []
          : [`${String(facts.unreadable)} files whose names do not verify were left out`]),
        ...(facts.nextCursor === null ? [] : ["There are more: pass a higher --limit"]),
      ],
      exit: exitOfSearch(facts.complete),
    });
  },
});

interface SearchFlags {
  readonly vault: string | undefined;
  readonly folder: string | undefined;
  readonly type: string | undefined;
  readonly author: string | undefined;
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly trashed: boolean;
}

async function queryOf(context: Context, { author, folder, since, trashed, type, until, vault }: SearchFlags) {
  const { task } = context;
  const within = folder === undefined ? null : await folderAt(task, folder, vault);
  const vaultId = within?.vaultId ?? (vault === undefined ? null : await vaultIdOf(task, vault));
  return {
    ...(vaultId === null ? {} : { vaultId }),
    ...(within?.folder == null ? {} : { folderId: within.folder.id }),
    ...(type === undefined ? {} : { type: type.toLowerCase() }),
    ...(author === undefined ? {} : { by: await findAuthor(task, author) }),
    ...(since === undefined ? {} : { since: boundOf(context, "--since", since) }),
    ...(until === undefined ? {} : { until: boundOf(context, "--until", until) }),
    ...(trashed ? { trashed } : {}),
  };
}

type Query = Awaited<ReturnType<typeof queryOf>> & { readonly q?: string };

/** Goes on while pages end early: an index is built meanwhile. */
async function searchAll(context: Context, query: Query, limit: number) {
  const client = await context.client();
  const { signal } = context;
  const line = context.progress("Searching");
  const files: FoundFile[] = [];
  try {
    for (let cursor: string | undefined; ;) {
      const page = await client.search(
        { ...query, limit: Math.min(limit - files.length, 1_000), ...(cursor === undefined ? {} : { cursor }) },
        { signal },
      );
      files.push(...page.files.map((file) => plain(file)));
      const { complete, nextCursor, unreadable, unsearched } = page;
      if (nextCursor === null || (complete && files.length >= limit) || files.length >= limit)
        return { files, complete, nextCursor, unreadable, unsearched };
      cursor = nextCursor;
    }
  } finally {
    line.end();
  }
}
