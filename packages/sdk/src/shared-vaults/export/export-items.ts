/** Binds the files of an export to its manifest: one digest over all of them, made at constant memory. */
import { createHasher, digestOf, toHex } from "../../transfer/digest.ts";
import {
  damagedExport,
  ITEM_FOLDERS,
  itemIdOf,
  itemPath,
  MAX_ITEM,
  readWhole,
  type ExportStore,
  type ItemCounts,
  type ItemFolder,
} from "./export-layout.ts";

/** Names in memory at once; larger sets are read piece by piece, by how they begin. */
const AT_ONCE = 50_000;
/** Small files that are read at the same time. */
const READ_AT_ONCE = 16;
const HEX = Array.from("0123456789abcdef");

export interface ItemsDigest extends ItemCounts {
  /** As `items` of the manifest. */
  readonly items: string;
}

/**
 * SHA-256 over the lines `<path> <SHA-256 of the bytes>\n` of all files, folders and records, sorted by path
 * (file-format §12). `expected` decides how much it lists at once. It refuses more than that: somebody else may have
 * filled the directory. `note` gets the digest of each item, in that order.
 */
export async function digestItems(
  store: ExportStore,
  expected: ItemCounts,
  note?: (folder: ItemFolder, id: string, digest: Uint8Array) => void,
): Promise<ItemsDigest> {
  const hasher = await createHasher();
  const counts = { files: 0, folders: 0, records: 0 };
  for (const folder of ITEM_FOLDERS)
    for await (const ids of sortedIds(store, folder, expected[folder])) {
      const items = await Promise.all(ids.map((id) => digestItem(store, folder, id)));
      for (const { id, path, digest } of items) {
        hasher.update(new TextEncoder().encode(`${path} ${toHex(digest)}\n`));
        note?.(folder, id, digest);
      }
      counts[folder] += ids.length;
    }
  return { ...counts, items: toHex(hasher.digest()) };
}

async function digestItem(store: ExportStore, folder: ItemFolder, id: string) {
  const path = itemPath(folder, id);
  const bytes = await readWhole(store, path, MAX_ITEM);
  if (bytes === null) throw damagedExport(`${path} went away while it was read`);
  return { id, path, digest: await digestOf(bytes) };
}

/** Each piece is sorted by itself, because pieces differ in how their names begin. */
async function* sortedIds(
  store: ExportStore,
  folder: ItemFolder,
  expected: number,
): AsyncGenerator<string[], void, undefined> {
  let remaining = expected;
  for (const start of startsOf(expected)) {
    const ids: string[] = [];
    for await (const name of store.list(folder)) {
      const id = itemIdOf(folder, name);
      if (id === null) throw damagedExport(`${folder} holds what is of no export`);
      if (!id.startsWith(start)) continue;
      if (ids.push(id) > remaining) throw damagedExport(`${folder} holds more than the manifest says`);
    }
    remaining -= ids.length;
    ids.sort();
    for (let at = 0; at < ids.length; at += READ_AT_ONCE) yield ids.slice(at, at + READ_AT_ONCE);
  }
}

/** Ids are random: one more digit makes the pieces sixteen times smaller, and costs sixteen times as many lists. */
function startsOf(count: number): string[] {
  let starts = [""];
  for (let pieces = 1; pieces < 256 && count / pieces > AT_ONCE; pieces *= 16)
    starts = starts.flatMap((start) => HEX.map((digit) => start + digit));
  return starts;
}
