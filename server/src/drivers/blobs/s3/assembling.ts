/** Parts become a blob. Asked for again after a crash it goes on where it was. */
import { createHash, type Hash } from "node:crypto";
import { BlobStoreAwayError } from "../../../ports/blob-store.ts";
import type { BlobPartialRow, BlobPartRow } from "../../../ports/blob-part-tables.ts";
import type { Database } from "../../../ports/database.ts";
import { inLanes } from "../lanes.ts";
import { Filling } from "./filling.ts";
import type { Names } from "./names.ts";
import type { S3Objects, StoredPart } from "./objects.ts";
import * as rows from "./partials-store.ts";
import { readObject } from "./reading.ts";
import { S3Refusal } from "./refusal.ts";

export interface AssemblingParts {
  readonly objects: S3Objects;
  readonly names: Names;
  readonly database: Database;
  /** Whether bodies are sent with a digest. */
  readonly signsBodies: boolean;
}

/** The number of the last bytes. Every writer uses it for them, so no small part is left in the middle, which S3 refuses. */
const LAST_NUMBER = 10_000;
/** A writer that was taken over may add a part at any moment. */
const TURNS = 3;

/** Makes the object; its digest, which `known` has already if it is not null. */
export async function assemble(parts: AssemblingParts, row: BlobPartialRow, known: Hash | null): Promise<string> {
  const { objects, names } = parts;
  const name = names.blob(row.blob_key);
  const tail = await readTail(parts, row);
  if (row.upload_id === null) {
    await objects.put(name, tail.body(), { mark: markOf(row), onlyNew: false });
    return tail.digest().digest("hex");
  }
  await finishUpload(parts, row, { name, uploadId: row.upload_id }, tail);
  const found = await objects.find(name);
  if (found?.size !== row.length)
    throw new BlobStoreAwayError(`The blob store made ${found?.size ?? 0} bytes of ${row.length}`);
  return (known ?? (await digestOf(objects, name, row.length))).digest("hex");
}

/** The bytes behind the last part, in memory. */
export async function readTail(
  { objects, names, signsBodies }: AssemblingParts,
  row: BlobPartialRow,
): Promise<Filling> {
  const filling = new Filling(signsBodies);
  if (row.tail_bytes === 0) return filling;
  const chunks = await readObject(objects, names.tail(row.blob_key, row.tail_number), undefined);
  for await (const chunk of chunks ?? []) filling.add(chunk);
  if (filling.length === row.tail_bytes) return filling;
  throw new Error(`The partial ${row.blob_key} has fewer bytes than were stored`);
}

/** The mark of the partial's objects, the same for as long as it lives. */
export function markOf({ blob_key: key, created_at: at }: BlobPartialRow): string {
  return `partial-${key}-${String(at)}`;
}

interface Upload {
  readonly name: string;
  readonly uploadId: string;
}

async function finishUpload(parts: AssemblingParts, row: BlobPartialRow, upload: Upload, tail: Filling): Promise<void> {
  const { objects, database } = parts;
  const last: StoredPart[] = [];
  try {
    if (tail.length > 0) {
      const etag = await objects.putPart(upload.name, upload.uploadId, LAST_NUMBER, tail.body());
      last.push({ number: LAST_NUMBER, etag });
    }
    const own = (await rows.listParts(database, row.blob_key)).filter((part) => part.stray === 0);
    await completeChecked(objects, upload, [...own, ...last], false);
  } catch (error) {
    if (!(error instanceof S3Refusal)) throw error;
    if (error.code === "InvalidPart") await completeWithStrays(parts, row, upload, last);
    // An earlier try, of this process or another one, has made it.
    else if (error.code !== "NoSuchUpload" || (await objects.find(upload.name))?.mark !== markOf(row)) throw error;
  }
  await cutStraysOut(parts, row, upload.name, tail);
}

/**
 * Puts the parts together. A store may have answered a part with another ETag than it keeps: what it lists then counts, if
 * the numbers are ours. Each part's bytes were held to their SHA-256 when they came, or came over TLS.
 */
export async function completeChecked(
  objects: S3Objects,
  { name, uploadId }: Upload,
  parts: readonly StoredPart[],
  onlyNew: boolean,
): Promise<void> {
  try {
    await objects.completeUpload(name, uploadId, parts, onlyNew);
  } catch (error) {
    if (!(error instanceof S3Refusal) || error.code !== "InvalidPart") throw error;
    const there = new Map((await objects.listParts(name, uploadId)).map((part) => [part.number, part]));
    const listed = parts.flatMap(({ number }) => there.get(number) ?? []);
    if (listed.length !== parts.length) throw error;
    await objects.completeUpload(name, uploadId, listed, onlyNew);
  }
}

/**
 * Ceph completes an upload only with all of its parts, also those that a killed or taken over writer has left and no row
 * names. They become part of the object, and rows say where, before it is made again without them.
 */
async function completeWithStrays(
  { objects, database }: AssemblingParts,
  row: BlobPartialRow,
  { name, uploadId }: Upload,
  last: readonly StoredPart[],
): Promise<void> {
  for (let turn = 1; ; turn += 1) {
    const known = await rows.listParts(database, row.blob_key);
    const isOwn = new Set([...known.filter((part) => part.stray === 0), ...last].map(({ number }) => number));
    const there = await objects.listParts(name, uploadId);
    const strays = there.filter(({ number }) => !isOwn.has(number));
    await rows.putStrays(
      database,
      row.blob_key,
      strays.map(({ number, size, etag }): BlobPartRow => ({
        blob_key: row.blob_key,
        number,
        size,
        etag,
        sha256: "",
        stray: 1,
      })),
    );
    try {
      return await objects.completeUpload(name, uploadId, there, false);
    } catch (error) {
      if (turn === TURNS || !(error instanceof S3Refusal) || error.code !== "InvalidPart") throw error;
    }
  }
}

/** Makes the object again from its own ranges, inside the store. Until then it is longer than it should be. */
async function cutStraysOut(
  { objects, database }: AssemblingParts,
  row: BlobPartialRow,
  name: string,
  tail: Filling,
): Promise<void> {
  const all = await rows.listParts(database, row.blob_key);
  const strayBytes = all.reduce((sum, part) => sum + (part.stray === 1 ? part.size : 0), 0);
  if (strayBytes === 0 || (await objects.find(name))?.size !== row.length + strayBytes) return;
  let at = 0;
  const ranges = all.flatMap(({ number, size, stray }) => {
    const from = at;
    at += size;
    return stray === 1 ? [] : [{ number, from, size }];
  });
  const uploadId = await objects.createUpload(name, markOf(row));
  try {
    const made: StoredPart[] = [];
    await inLanes(ranges, async ({ number, from, size }) => {
      const etag = await objects.copyPart(name, uploadId, { number, source: name, from, size });
      made.push({ number, etag });
    });
    if (tail.length > 0)
      made.push({ number: LAST_NUMBER, etag: await objects.putPart(name, uploadId, LAST_NUMBER, tail.body()) });
    made.sort((left, right) => left.number - right.number);
    await completeChecked(objects, { name, uploadId }, made, false);
  } catch (error) {
    await objects.abortUpload(name, uploadId).catch(() => undefined);
    throw error;
  }
}

async function digestOf(objects: S3Objects, name: string, length: number): Promise<Hash> {
  const digest = createHash("sha256");
  let read = 0;
  for await (const chunk of (await readObject(objects, name, undefined)) ?? []) {
    digest.update(chunk);
    read += chunk.length;
  }
  if (read !== length) throw new BlobStoreAwayError(`The blob store answered ${read} bytes of ${length}`);
  return digest;
}
