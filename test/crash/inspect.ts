/** Looks into a server's data directory from outside: every row has its bytes, and all bytes have a row. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openRowReader } from "./row-reader.ts";

interface Rows {
  readonly files: { blob_key: string; size: number }[];
  readonly versions: { blob_key: string; size: number }[];
  readonly uploads: { blob_key: string; finished_file_id: string | null }[];
  readonly deletions: { blob_key: string }[];
  /** Accounts whose counters are not what their rows add up to. */
  readonly drifted: { id: string }[];
  /** Budgets that count something else than what is stored. */
  readonly miscounted: { id: string }[];
  /** Items whose names and places before are not all there, and those that are there without their item. */
  readonly torn: { id: string }[];
}

/** What an account is charged for is what it holds, and its changes are numbered without a gap. */
const DRIFTED = `select id from accounts where
  usage_bytes - usage_version_bytes <> (select coalesce(sum(size), 0) from files where account_id = accounts.id) or
  usage_version_bytes <> (select coalesce(sum(charged), 0) from file_versions join vaults on vaults.id = vault_id
    where account_id = accounts.id) or
  usage_files <> (select count(*) from files where account_id = accounts.id) or
  sequence <> (select count(*) from changes where account_id = accounts.id)`;

/** What is counted for a budget is what was stored by its keys, and by keys that those made. */
const MISCOUNTED = `with recursive below (id, root) as (select id, id from budgets
    union all select budgets.id, root from budgets join below on parent_id = below.id),
  stored as (select budget_id, size as bytes from files union all select budget_id, charged from file_versions)
  select id from budgets where stored_bytes <>
    (select coalesce(sum(bytes), 0) from stored join below on budget_id = below.id where root = budgets.id)`;

/** Nothing ends within a test, and each author is far from the bound of what is kept. */
const TORN = `with items as (select id, entry_number from files union all select id, entry_number from folders)
  select id from items where entry_number <= 100
    and entry_number - 1 <> (select count(*) from item_entries where item_id = id and number < entry_number)
  union all select item_id from item_entries where item_id not in (select id from items)`;

/** What a store holds. */
export interface Held {
  /** Key to size of every complete blob. */
  readonly blobs: ReadonlyMap<string, number>;
  readonly partials: readonly string[];
  readonly temporaries: readonly string[];
}

/** What a cut request leaves behind is no loss: the sweep takes it once it is old. */
export function isLeftover(problem: string): boolean {
  return /^(orphan blob|orphan partial|temporary file): /.test(problem);
}

/** Problems of a directory whose server is idle; empty when all is well. */
export async function inspectData(directory: string, held?: Held): Promise<string[]> {
  const rows = await readRows(directory);
  const { blobs, partials, temporaries } = held ?? (await readDisk(join(directory, "blobs")));
  const known = new Set(
    [...rows.files, ...rows.versions, ...rows.uploads, ...rows.deletions].map((row) => row.blob_key),
  );
  const unfinished = new Set(rows.uploads.filter((row) => row.finished_file_id === null).map((row) => row.blob_key));
  // What took an upload over left the bytes of the writer before to the queue.
  const queued = new Set(rows.deletions.map((row) => row.blob_key));
  const problems = [
    ...[...rows.files, ...rows.versions]
      .filter((row) => blobs.get(row.blob_key) !== row.size)
      .map(
        (row) => `dangling row: ${row.blob_key} has ${String(blobs.get(row.blob_key))} of ${String(row.size)} bytes`,
      ),
    ...[...blobs.keys()].filter((key) => !known.has(key)).map((key) => `orphan blob: ${key}`),
    ...temporaries.map((name) => `temporary file: ${name}`),
    ...partials
      .filter((name) => [unfinished, queued].every((keys) => !keys.has(name.replace(/\.length$/, ""))))
      .map((name) => `orphan partial: ${name}`),
    ...[...unfinished]
      .filter((key) => !partials.includes(key) && !blobs.has(key))
      .map((key) => `upload without bytes: ${key}`),
    ...rows.drifted.map(({ id }) => `usage or sequence drifted: account ${id}`),
    ...rows.miscounted.map(({ id }) => `budget ${id} does not count what is stored`),
    ...rows.torn.map(({ id }) => `names and places before are not those of the item: ${id}`),
  ];
  return problems;
}

export async function countFiles(directory: string): Promise<number> {
  return (await readRows(directory)).files.length;
}

async function readRows(directory: string): Promise<Rows> {
  await using reader = openRowReader(directory);
  await reader.check();
  const all = async <Name extends keyof Rows>(query: string) => (await reader.all(query)) as unknown as Rows[Name];
  const sized = async <Name extends "files" | "versions">(table: string) =>
    (await all<Name>(`select blob_key, size from ${table}`)).map((row) => ({
      ...row,
      size: Number(row.size as unknown),
    }));
  return {
    files: await sized<"files">("files"),
    versions: await sized<"versions">("file_versions"),
    uploads: await all<"uploads">("select blob_key, finished_file_id from uploads"),
    deletions: await all<"deletions">(
      "select blob_key from blob_deletions union all select blob_key from blob_quarantine",
    ),
    drifted: await all<"drifted">(DRIFTED),
    miscounted: await all<"miscounted">(MISCOUNTED),
    torn: await all<"torn">(TORN),
  };
}

async function readDisk(root: string): Promise<Held> {
  const [partials, temporaries] = [await names(join(root, "partial")), await names(join(root, "temporary"))];
  return { blobs: await listBlobs(join(root, "blobs")), partials, temporaries };
}

async function listBlobs(root: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const area of await names(root)) {
    for (const key of await names(join(root, area))) sizes.set(key, (await stat(join(root, area, key))).size);
  }
  return sizes;
}

async function names(directory: string): Promise<string[]> {
  return (await readdir(directory)).sort();
}
