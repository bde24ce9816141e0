import { ROOT, shortIds, untrusted } from "@coffer/tasks";
import type { Client, Vault } from "@coffer/sdk";
import type { Context } from "../../context.ts";
import { choice, command, count, optionalArgument, toggle } from "../../declarations.ts";
import { listing, type Listing } from "../../result.ts";
import { fileRow, folderRow, HUMAN_READABLE, itemColumns, reportClosed, type Row } from "./item-rows.ts";
import { VAULT, targetAt } from "./vault-paths.ts";

/** Rows that one request brings. */
const PAGE = 1_000;

export default command({
  brief: "List a vault or a folder",
  description: "Without a place it lists the vaults. Folders come first, then files, the newest first.",
  examples: [
    { line: "coffer ls", does: "your vaults" },
    { line: 'coffer ls "Team:"', does: "the top of a vault" },
    { line: 'coffer ls "Team:" --recursive --sort size --limit 10', does: "the ten largest" },
    { line: "coffer ls Team:2027/May --json-lines", does: "one JSON document for each item" },
  ],
  flags: {
    vault: VAULT,
    recursive: toggle("List everything in the vault, with the ids of the folders"),
    sort: choice("Order of files and folders: by name, the largest first, or what was changed last first", [
      "name",
      "size",
      "time",
    ]),
    humanReadable: HUMAN_READABLE,
    limit: count("At most so many files and folders; all without it"),
  },
  args: [optionalArgument("place", "VAULT:, VAULT:PATH or the id of a folder")] as const,
  isList: true,
  run: async (context, { humanReadable, limit = Infinity, recursive, sort, vault }, [place]) => {
    if (place === undefined && vault === undefined) return await listVaults(context);
    const { item, vaultId } = await targetAt(context.task, place ?? "", vault);
    if (item?.kind === "file") return listingOf(context, [fileRow(item.file)], humanReadable);
    const client = await context.client();
    const within = recursive ? null : (item?.id ?? ROOT);
    const query = { vaultId, within, limit: sort === undefined ? limit : Infinity };
    const rows = await rowsIn(client, context.signal, query);
    return listingOf(context, sort === undefined ? rows : rows.sort(ORDERS[sort]).slice(0, limit), humanReadable);
  },
});

/** Folders have no size of their own: they come last by size, and first by name. */
const ORDERS: Readonly<Record<"name" | "size" | "time", (a: Row, b: Row) => number>> = {
  name: (a, b) => Number(a.kind === "file") - Number(b.kind === "file") || NAMES.compare(a.name, b.name),
  size: (a, b) => sizeOf(b) - sizeOf(a),
  time: (a, b) => (a.updatedAt < b.updatedAt ? 1 : -1),
};
const NAMES = new Intl.Collator("en", { numeric: true });
const sizeOf = (row: Row): number => (row.kind === "file" ? row.size : -1);

const listingOf = (context: Context, rows: readonly Row[], isHuman: boolean): Listing =>
  listing({
    name: "items",
    items: rows,
    columns: itemColumns(rows, [], isHuman),
    empty: "Nothing is here.",
    exit: reportClosed(context, rows),
  });

interface RowsQuery {
  readonly vaultId: string;
  /** null: everything. */
  readonly within: string | null;
  readonly limit: number;
}

/** Both lists are asked for at once: a folder with a page of each takes one round trip. */
async function rowsIn(client: Client, signal: AbortSignal, { limit, vaultId, within }: RowsQuery): Promise<Row[]> {
  const query = { vaultId, limit: Math.min(limit, PAGE) };
  const [folders, files] = await Promise.all([
    firstOf(client.folders.list({ ...query, ...(within === null ? {} : { parentId: within }) }, { signal }), limit),
    firstOf(client.files.list({ ...query, ...(within === null ? {} : { folderId: within }) }, { signal }), limit),
  ]);
  return [...folders.map(folderRow), ...files.map(fileRow)].slice(0, limit);
}

async function firstOf<Item>(items: AsyncIterable<Item>, limit: number): Promise<Item[]> {
  const firstItems: Item[] = [];
  for await (const item of items) {
    firstItems.push(item);
    if (firstItems.length >= limit) break;
  }
  return firstItems;
}

async function listVaults(context: Context): Promise<Listing> {
  const { vaults } = await context.client();
  const { signal } = context;
  const lists = [{}, { shared: true }].map((query) =>
    firstOf(vaults.list({ ...query, limit: PAGE }, { signal }), Infinity),
  );
  const ownAndShared: Vault[] = (await Promise.all(lists)).flat();
  const short = shortIds(ownAndShared.map(({ id }) => id));
  return listing({
    name: "vaults",
    items: ownAndShared,
    columns: [
      { title: "id", of: ({ id }) => short(id) },
      { title: "type", of: ({ type }) => type },
      { title: "role", of: ({ role }) => role },
      { title: "name", of: ({ name }) => untrusted(`${name}:`) },
    ],
    empty: "There are no vaults. Make one: coffer vaults create NAME",
  });
}
