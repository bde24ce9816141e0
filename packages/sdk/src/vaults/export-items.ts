/** What binds the files of an export to its manifest: one digest over all of them, made at constant memory. */
import { createHasher, digestOf, toHex } from "../digest.ts";
import {
  damagedExport,
  ITEM_FOLDERS,
  MAX_ITEM,
  readWhole,
  type ExportStore,
  type ItemCounts,
} from "./export-layout.ts";

/** Names in memory at once; more are gone through piece by piece, by how they begin. */
const AT_ONCE = 50_000;
/** Small files that are read at the same time. */
const READ_AT_ONCE = 16;
const HEX = Array.from("0123456789abcdef");

export interface ItemsDigest extends ItemCounts {
  /** As `items` of the manifest. */
  readonly items: string;
}

/**
 * SHA-256 over the lines `<path> <SHA-256 of the bytes>\n` of all files, folders and records, sorted by path (file-format §12). `expected`
 * decides how much is listed at once, and more than that is refused: a directory may be filled by somebody else.
 */
export async function digestItems(store: ExportStore, expected: ItemCounts): Promise<ItemsDigest> {
  const hasher = await createHasher();
  const counts = { files: 0, folders: 0, records: 0 };
  for (const folder of ITEM_FOLDERS)
    for await (const paths of sortedPaths(store, folder, expected[folder])) {
      const lines = await Promise.all(paths.map((path) => lineOf(store, path)));
      hasher.update(new TextEncoder().encode(lines.join("")));
      counts[folder] += paths.length;
    }
  return { ...counts, items: toHex(hasher.digest()) };
}

async function lineOf(store: ExportStore, path: string): Promise<string> {
  const bytes = await readWhole(store, path, MAX_ITEM);
  if (bytes === null) throw damagedExport(`${path} went away while it was read`);
  return `${path} ${toHex(await digestOf(bytes))}\n`;
}

/** Piece after piece is sorted by itself, because pieces differ in how their names begin. */
async function* sortedPaths(
  store: ExportStore,
  folder: (typeof ITEM_FOLDERS)[number],
  expected: number,
): AsyncGenerator<string[], void, undefined> {
  let left = expected;
  for (const start of startsOf(expected)) {
    const names: string[] = [];
    for await (const name of store.list(folder)) {
      if (!/^[0-9a-f][0-9a-f-]*\.(?:json|record)$/.test(name))
        throw damagedExport(`${folder} holds what is of no export`);
      if (!name.startsWith(start)) continue;
      if (names.push(name) > left) throw damagedExport(`${folder} holds more than the manifest says`);
    }
    left -= names.length;
    names.sort();
    for (let at = 0; at < names.length; at += READ_AT_ONCE)
      yield names.slice(at, at + READ_AT_ONCE).map((name) => `${folder}/${name}`);
  }
}

/** Ids are random: each digit more makes the pieces sixteen times smaller, and costs sixteen times as many lists. */
function startsOf(count: number): string[] {
  let starts = [""];
  for (let pieces = 1; pieces < 256 && count / pieces > AT_ONCE; pieces *= 16)
    starts = starts.flatMap((start) => HEX.map((digit) => start + digit));
  return starts;
}
