/** Everything that a store and the rows about it hold, page by page. */
import type { BlobKey, StoredBlob } from "../../../ports/blob-store.ts";
import type { BlobPartialRow } from "../../../ports/blob-part-tables.ts";
import type { Database } from "../../../ports/database.ts";
import type { Names } from "./names.ts";
import type { S3Objects } from "./objects.ts";
import { findPartials, listUnfinished } from "./partials-store.ts";

const PAGE = 500;

/** Blobs, then what is partial: once for each row, and what no row names. */
export async function* listBlobs(
  objects: S3Objects,
  names: Names,
  database: Database,
  writing: ReadonlySet<BlobKey>,
): AsyncGenerator<StoredBlob> {
  for await (const { name, size, modifiedAt } of objects.list(names.blobs)) {
    const key = names.keyOfBlob(name);
    if (key !== null) yield { key, size, modifiedAt, complete: true };
  }
  for (let after = ""; ;) {
    const page: BlobPartialRow[] = await listUnfinished(database, after, PAGE);
    for (const row of page) yield { key: row.blob_key, size: row.length, modifiedAt: row.created_at, complete: false };
    if (page.length < PAGE) break;
    after = page.at(-1)?.blob_key ?? "";
  }
  yield* unnamed(objects, names, database, writing);
}

/** Uploads and tails of processes that were killed before a row named them, or after it had gone. */
async function* unnamed(
  objects: S3Objects,
  names: Names,
  database: Database,
  writing: ReadonlySet<BlobKey>,
): AsyncGenerator<StoredBlob> {
  for await (const { name, begunAt } of objects.listUploads(names.blobs)) {
    const key = names.keyOfBlob(name);
    if (key === null || writing.has(key)) continue;
    const [row] = await findPartials(database, [key]);
    if (row?.completed_at !== null) yield { key, size: 0, modifiedAt: begunAt, complete: false };
  }
  for await (const { name, size, modifiedAt } of objects.list(names.tails)) {
    const tail = names.tailOf(name);
    if (tail === null) continue;
    const [row] = await findPartials(database, [tail.key]);
    if (row?.completed_at !== null) yield { key: tail.key, size, modifiedAt, complete: false };
  }
}
