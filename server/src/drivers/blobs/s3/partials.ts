/**
 * Partial blobs as multipart uploads. Which parts count, and in which order, is in rows alone, so any process goes on with
 * them. A writer that was taken over may still send parts: they get numbers that nobody else uses, and no row names them.
 */
import { createHash, type Hash, randomInt } from "node:crypto";
import type { BlobKey, BlobReceipt } from "../../../ports/blob-store.ts";
import type { BlobPartialRow, BlobPartRow } from "../../../ports/blob-part-tables.ts";
import type { Clock } from "../../../ports/clock.ts";
import { assemble, type AssemblingParts, markOf, readTail } from "./assembling.ts";
import type { Filling } from "./filling.ts";
import type { S3Body } from "./client.ts";
import { mayBeShort, partBytesFor, sizeOfPart } from "./part-sizes.ts";
import * as rows from "./partials-store.ts";
import type { Semaphore } from "./semaphore.ts";
import { pour } from "./uploading.ts";

/** Partials whose digest stays in memory between appends. For others the blob is read once when it is complete. */
const DIGESTS_KEPT = 1024;
/** How long a receipt is kept for callers that ask again. */
const RECEIPTS_KEPT = 7 * 24 * 3_600_000;

export interface PartialsParts extends AssemblingParts {
  readonly clock: Clock;
  /** For parts on their way to the store. */
  readonly sending: Semaphore;
}

export class Partials {
  readonly #parts: PartialsParts;
  /** Digest of the durable bytes of a partial, oldest use first. */
  readonly #digests = new Map<BlobKey, { readonly length: number; readonly digest: Hash }>();
  readonly #busy = new Set<BlobKey>();

  constructor(parts: PartialsParts) {
    this.#parts = parts;
  }

  async start(key: BlobKey, length: number | null): Promise<void> {
    const { objects, names, database, clock } = this.#parts;
    if ((await objects.find(names.blob(key))) !== null) throw new Error("The key is taken");
    const now = clock.now();
    await rows.insertPartial(database, {
      blob_key: key,
      writer: 1,
      length: 0,
      part_bytes: partBytesFor(length),
      next_part: 1,
      upload_id: null,
      tail_bytes: 0,
      tail_number: 0,
      created_at: now,
      completed_at: null,
      sha256: null,
    });
    await rows.deleteReceipts(database, now - RECEIPTS_KEPT);
  }

  append(key: BlobKey, offset: number, source: AsyncIterable<Uint8Array>, atomic: boolean): Promise<number> {
    return this.#exclusively(key, async () => {
      const row = await this.#open(key);
      if (offset !== row.length) throw new RangeError(`The partial blob has ${row.length} bytes, not ${offset}`);
      const growing = new Growing(this.#parts, row, atomic);
      const digest = this.#removeDigest(row);
      const before = digest === "from the start" || digest === null || !atomic ? digest : digest.copy();
      try {
        const after = await growing.grow(source, digest);
        if (after.digest !== null) this.#storeDigest(key, after.length, after.digest);
        if (after.failure !== null) throw after.failure.error;
        return after.length;
      } catch (error) {
        if (atomic && before !== null && before !== "from the start") this.#storeDigest(key, row.length, before);
        throw error;
      }
    });
  }

  /** null: no such partial, or a blob by now. */
  async length(key: BlobKey): Promise<number | null> {
    const row = await rows.findPartial(this.#parts.database, key);
    return row === null || row.completed_at !== null ? null : row.length;
  }

  async takeOver(key: BlobKey): Promise<void> {
    if ((await rows.raiseWriter(this.#parts.database, key)) === 0)
      throw new RangeError("There is no such partial blob");
  }

  complete(key: BlobKey): Promise<BlobReceipt> {
    return this.#exclusively(key, async () => {
      const { database, clock, objects, names } = this.#parts;
      const row = await rows.findPartial(database, key);
      if (row === null) throw new RangeError("There is no such partial blob");
      if (row.sha256 !== null) return { size: row.length, sha256: row.sha256 };
      const kept = this.#removeDigest(row);
      const sha256 = await assemble(this.#parts, row, kept === "from the start" ? createHash("sha256") : kept);
      await rows.markComplete(database, key, { sha256, completed_at: clock.now() });
      // What is left of it the sweep removes.
      if (row.tail_bytes > 0) await objects.delete(names.tail(key, row.tail_number)).catch(() => undefined);
      return { size: row.length, sha256 };
    });
  }

  discard(key: BlobKey): Promise<void> {
    return this.#exclusively(key, async () => {
      const { database, objects, names } = this.#parts;
      this.#digests.delete(key);
      const row = await rows.findPartial(database, key);
      await this.#dropBytes(key);
      if (row?.completed_at === null && row.upload_id !== null)
        await objects.abortUpload(names.blob(key), row.upload_id);
      await rows.deletePartials(database, [key]);
    });
  }

  /** Ends what the store holds of it beside its blob. No row may name it, after a kill or a lost answer. */
  async #dropBytes(key: BlobKey): Promise<void> {
    const { objects, names } = this.#parts;
    for await (const { name, uploadId } of objects.listUploads(names.blob(key)))
      if (name === names.blob(key)) await objects.abortUpload(name, uploadId);
    for await (const { name } of objects.list(names.tailsOf(key))) await objects.delete(name);
  }

  async #open(key: BlobKey): Promise<BlobPartialRow> {
    const row = await rows.findPartial(this.#parts.database, key);
    if (row === null || row.completed_at !== null) throw new RangeError("There is no such partial blob");
    return row;
  }

  async #exclusively<Result>(key: BlobKey, work: () => Promise<Result>): Promise<Result> {
    if (this.#busy.has(key)) throw new RangeError("The partial blob is being changed by somebody else");
    this.#busy.add(key);
    try {
      return await work();
    } finally {
      this.#busy.delete(key);
    }
  }

  #removeDigest({ blob_key: key, length }: BlobPartialRow): Hash | "from the start" | null {
    const kept = this.#digests.get(key);
    this.#digests.delete(key);
    if (length === 0) return "from the start";
    return kept?.length === length ? kept.digest : null;
  }

  #storeDigest(key: BlobKey, length: number, digest: Hash): void {
    this.#digests.set(key, { length, digest });
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > DIGESTS_KEPT && oldest !== undefined) this.#digests.delete(oldest);
  }
}

/** One append. */
class Growing {
  readonly #parts: PartialsParts;
  readonly #atomic: boolean;
  #row: BlobPartialRow;
  /** Stored, and not in rows yet. */
  readonly #stored: BlobPartRow[] = [];
  #number: number;

  constructor(parts: PartialsParts, row: BlobPartialRow, atomic: boolean) {
    this.#parts = parts;
    this.#row = row;
    this.#atomic = atomic;
    this.#number = row.next_part;
  }

  async grow(source: AsyncIterable<Uint8Array>, digest: Hash | "from the start" | null) {
    const before = this.#row;
    const started = await readTail(this.#parts, before);
    try {
      const poured = await pour(
        source,
        {
          signsBodies: this.#parts.signsBodies,
          sending: this.#parts.sending,
          // One after the other: each says how long the partial is by then.
          inFlight: 1,
          nextSize: () => sizeOfPart(this.#number, before.part_bytes),
          send: (body) => this.#send(body),
        },
        { rest: started, digest },
      );
      if (poured.failure !== null && this.#atomic) throw poured.failure.error;
      await this.#end(poured.rest);
      if (before.tail_bytes > 0 && this.#row.tail_number !== before.tail_number) await this.#drop(before);
      return { length: this.#row.length, digest: poured.digest, failure: poured.failure };
    } catch (error) {
      await this.#skipNumbers();
      throw error;
    }
  }

  /** A full part. Its number moves on at once: the next part fills meanwhile. */
  async #send(body: S3Body): Promise<void> {
    const { objects, names } = this.#parts;
    const number = this.#number;
    this.#number += 1;
    const { blob_key: key } = this.#row;
    const uploadId = this.#row.upload_id ?? (await this.#createUpload());
    // A later part of an append that counts at once or not at all: its number is taken before it is used.
    if (this.#stored.length > 0) await this.#change({ next_part: number + 1 });
    const etag = await objects.putPart(names.blob(key), uploadId, number, body);
    this.#stored.push({ blob_key: key, number, size: body.bytes, etag, sha256: body.sha256 ?? "", stray: 0 });
    if (!this.#atomic) await this.#commit({ tail_bytes: 0 });
  }

  async #end(rest: Filling): Promise<void> {
    const { objects, names } = this.#parts;
    const { blob_key: key, tail_bytes: tail } = this.#row;
    const isShort = mayBeShort(this.#number, rest.length);
    if (isShort) await this.#send(rest.body());
    else if (rest.length > 0 && !(this.#stored.length === 0 && rest.length === tail)) {
      // A writer that was taken over never writes over it.
      const number = randomInt(1, 2 ** 31 - 1);
      await objects.put(names.tail(key, number), rest.body(), { mark: markOf(this.#row), onlyNew: false });
      await this.#commit({ tail_bytes: rest.length, tail_number: number });
      return;
    }
    if (this.#stored.length > 0) await this.#commit({ tail_bytes: 0 });
  }

  async #createUpload(): Promise<string> {
    const { objects, names } = this.#parts;
    const uploadId = await objects.createUpload(names.blob(this.#row.blob_key), markOf(this.#row));
    await this.#change({ upload_id: uploadId });
    return uploadId;
  }

  /** What is stored becomes durable length. A tail that was there has gone into the first part, or into the new tail. */
  async #commit(tail: Partial<Pick<BlobPartialRow, "tail_bytes" | "tail_number">>): Promise<void> {
    const stored = this.#stored.splice(0);
    const inParts = this.#row.length - this.#row.tail_bytes + stored.reduce((sum, part) => sum + part.size, 0);
    const { tail_bytes = 0, tail_number = 0 } = tail;
    const next_part = (stored.at(-1)?.number ?? this.#row.next_part - 1) + 1;
    const change = { length: inParts + tail_bytes, next_part, tail_bytes, tail_number };
    await this.#change(change, stored);
  }

  async #change(change: Partial<BlobPartialRow>, stored: readonly BlobPartRow[] = []): Promise<void> {
    const isHeld = await rows.changePartial(this.#parts.database, this.#row, change, stored);
    if (!isHeld) throw new RangeError("The partial blob is being changed by somebody else");
    this.#row = { ...this.#row, ...change };
  }

  /** A part whose storing failed may still arrive: its number is nobody's. */
  async #skipNumbers(): Promise<void> {
    if (this.#number === this.#row.next_part) return;
    const { database } = this.#parts;
    await rows.changePartial(database, this.#row, { next_part: this.#number }).catch(() => undefined);
  }

  async #drop({ blob_key: key, tail_number: number }: BlobPartialRow): Promise<void> {
    const { objects, names } = this.#parts;
    await objects.delete(names.tail(key, number)).catch(() => undefined);
  }
}
