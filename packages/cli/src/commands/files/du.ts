import { untrusted } from "@coffer/tasks";
import type { Client, File, Folder, Vault } from "@coffer/sdk";
import { command, count, optionalArgument } from "../../declarations.ts";
import { listing } from "../../result.ts";
import { HUMAN_READABLE, plain, reportClosed, sizeCell } from "./item-rows.ts";
import { targetAt, VAULT } from "./vault-paths.ts";

const PAGE = 1_000;

export default command({
  brief: "Show how many bytes and files vaults and folders hold",
  description:
    "Without a place it sums up every vault. A folder counts with everything below it. Earlier versions and the trash are not counted: coffer account show has what the whole account stores.",
  examples: [
    { line: "coffer du", does: "each vault" },
    { line: 'coffer du "Team:" --depth 2 --human-readable', does: "two levels of folders" },
  ],
  flags: {
    vault: VAULT,
    depth: count("Levels of folders below the place; 1 without it", 0),
    humanReadable: HUMAN_READABLE,
  },
  args: [optionalArgument("place", "VAULT:, VAULT:PATH or the id of a folder")] as const,
  isList: true,
  run: async (context, { depth = 1, humanReadable, vault }, [place]) => {
    const client = await context.client();
    const { signal, task } = context;
    const targets: Target[] = [];
    if (place === undefined && vault === undefined)
      for (const each of await vaultsOf(client, signal)) targets.push({ vault: each, folder: null });
    else {
      const { item, vaultId } = await targetAt(task, place ?? "", vault);
      if (item?.kind === "file") {
        const rows = [{ place: item.file.name, files: 1, bytes: item.file.size }];
        return listing({ name: "places", items: rows, columns: columnsOf(humanReadable), empty: "" });
      }
      targets.push({ vault: await client.vaults.get(vaultId, { signal }), folder: item?.folder ?? null });
    }
    const levels = place === undefined && vault === undefined ? 0 : depth;
    const uses: Use[] = [];
    const closed: File[] = [];
    for (const target of targets) {
      const { rows, unreadable } = await usesOf(client, signal, target, levels);
      uses.push(...rows);
      closed.push(...unreadable);
    }
    return listing({
      name: "places",
      items: uses,
      columns: columnsOf(humanReadable),
      empty: "There are no vaults.",
      otherFields: { closed: closed.length },
      exit: reportClosed(context, closed.map(plain)),
    });
  },
});

interface Target {
  readonly vault: Vault;
  /** null: the whole vault. */
  readonly folder: Folder | null;
}

interface Use {
  /** `VAULT:PATH`. */
  readonly place: string;
  readonly files: number;
  readonly bytes: number;
}

const columnsOf = (isHuman: boolean) => [
  { title: "bytes", of: ({ bytes }: Use) => sizeCell(bytes, isHuman), isNumber: true },
  { title: "files", of: ({ files }: Use) => files, isNumber: true },
  { title: "place", of: ({ place }: Use) => untrusted(place) },
];

async function vaultsOf({ vaults }: Client, signal: AbortSignal): Promise<Vault[]> {
  const [own, shared] = await Promise.all(
    [{}, { shared: true }].map((query) => all(vaults.list({ ...query, limit: PAGE }, { signal }))),
  );
  return [...(own ?? []), ...(shared ?? [])];
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The place first, then the folders below it by their paths. Each counts what is below it. */
async function usesOf(
  client: Client,
  signal: AbortSignal,
  { folder: top, vault }: Target,
  depth: number,
): Promise<{ readonly rows: Use[]; readonly unreadable: File[] }> {
  const folders = await all(client.folders.list({ vaultId: vault.id, limit: PAGE }, { signal }));
  const byId = new Map(folders.map((folder) => [folder.id, folder]));
  const sums = new Map<string | null, { files: number; bytes: number }>();
  const unreadable: File[] = [];
  for await (const file of client.files.list({ vaultId: vault.id, limit: PAGE }, { signal })) {
    if (file.unreadable !== undefined || file.name === "") unreadable.push(file);
    for (const id of [...upwards(byId, file.folderId), null]) {
      const sum = sums.get(id) ?? { files: 0, bytes: 0 };
      sums.set(id, { files: sum.files + 1, bytes: sum.bytes + file.size });
    }
  }
  const rows: Use[] = [];
  for (const folder of [null, ...folders]) {
    const path = [...upwards(byId, folder?.id ?? null)].toReversed();
    const from = top === null ? 0 : path.indexOf(top.id) + 1;
    if ((top !== null && from === 0) || path.length - from > depth) continue;
    const names = path.map((id) => byId.get(id)?.name ?? "");
    const sum = sums.get(folder?.id ?? null) ?? { files: 0, bytes: 0 };
    rows.push({ place: `${vault.name}:${names.map((name) => `${name}/`).join("")}`, ...sum });
  }
  return { rows: rows.sort((a, b) => (a.place < b.place ? -1 : 1)), unreadable };
}

/** The folder and those above it, the lowest first. A service that shows a circle is not followed round. */
function* upwards(byId: ReadonlyMap<string, Folder>, folderId: string | null): Generator<string> {
  const seen = new Set<string>();
  for (let id = folderId; id !== null && !seen.has(id); id = byId.get(id)?.parentId ?? null) {
    seen.add(id);
    yield id;
  }
}
