/**
 * Blobs in a store that speaks S3. Held by test/suites/blob-store.ts. What is partial is in rows of the database
 * (s3/partials.ts), so several processes may use one store.
 */
import { hash, randomUUID } from "node:crypto";
import {
  ADDRESS_SECONDS,
  type BlobKey,
  type BlobRange,
  type BlobReceipt,
  type BlobStore,
  type BlobStoreCapabilities,
  type BlobStoreTally,
  type PutOptions,
  type SmallBlob,
  type StoredBlob,
} from "../../ports/blob-store.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import type { OnStorageFault } from "../../ports/storage-faults.ts";
import { inLanes } from "./lanes.ts";
import { assertKey } from "./keys.ts";
import { readText, type S3Body, S3Client } from "./s3/client.ts";
import { tryConditionalPut } from "./s3/conditional.ts";
import { listBlobs } from "./s3/listing.ts";
import { readMarkObject, replaceMarkObject } from "./s3/mark-object.ts";
import { namesIn, type Names } from "./s3/names.ts";
import { DELETED_AT_ONCE, S3Objects, type StoredPart } from "./s3/objects.ts";
import { LEAST_PART_BYTES, partBytesFor, sizeOfPart } from "./s3/part-sizes.ts";
import { completeChecked } from "./s3/assembling.ts";
import { Partials } from "./s3/partials.ts";
import * as rows from "./s3/partials-store.ts";
import { readObject } from "./s3/reading.ts";
import { PATIENCE, type Patience, type S3Settings, signsBodies } from "./s3/settings.ts";
import { Semaphore } from "./s3/semaphore.ts";
import { pour } from "./s3/uploading.ts";

export interface S3BlobsOptions {
  readonly settings: S3Settings;
  /** Takes the rows of partial blobs. */
  readonly database: Database;
  readonly clock?: Clock;
  readonly patience?: Patience;
  readonly onFault?: OnStorageFault;
  /** Is told what the store was found to be able to do. */
  readonly log?: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/**
 * Parts of all uploads that are on their way to the store. With fewer the store waits for the next one now and then. Memory is that of these
 * parts, and of one for each upload that fills it.
 */
const IN_FLIGHT = 4;
/** How long `ping` waits. */
const PING = { attempts: 1, within: 0 } as const;

/** Asks the store nothing yet: a server starts while it is away, and says that it is not ready. */
export function openS3Blobs(options: S3BlobsOptions): BlobStore {
  return new S3BlobStore(options);
}

class S3BlobStore implements BlobStore {
  readonly capabilities: BlobStoreCapabilities = { partBytes: LEAST_PART_BYTES, sharesClock: false };
  readonly #client: S3Client;
  readonly #objects: S3Objects;
  readonly #names: Names;
  /** Whether it gives addresses of blobs. */
  readonly #gives: boolean;
  readonly #database: Database;
  readonly #partials: Partials;
  readonly #signsBodies: boolean;
  readonly #sending = new Semaphore(IN_FLIGHT);
  readonly #log: NonNullable<S3BlobsOptions["log"]>;
  /** What `put` is writing in this process. */
  readonly #writing = new Set<BlobKey>();
  #conditional: Promise<boolean> | null = null;

  constructor({ settings, database, clock = systemClock, patience = PATIENCE, log: note, onFault }: S3BlobsOptions) {
    this.#client = new S3Client(settings, patience, onFault);
    this.#signsBodies = signsBodies(settings);
    this.#objects = new S3Objects(this.#client, settings);
    this.#names = namesIn(settings.prefix);
    this.#gives = settings.redirect === "presigned";
    this.#database = database;
    this.#log = note ?? ignore;
    this.#partials = new Partials({
      objects: this.#objects,
      names: this.#names,
      database,
      clock,
      signsBodies: this.#signsBodies,
      sending: this.#sending,
    });
  }

  async put(key: BlobKey, source: AsyncIterable<Uint8Array>, options: PutOptions = {}): Promise<BlobReceipt> {
    assertKey(key);
    if (this.#writing.has(key)) throw new Error("The key is taken");
    this.#writing.add(key);
    const length = options.length ?? null;
    const upload = new WholeUpload(this.#objects, this.#names.blob(key), partBytesFor(length));
    try {
      const onlyNew = await this.#requireFree(key);
      const pouring = {
        signsBodies: this.#signsBodies,
        sending: this.#sending,
        nextSize: () => upload.nextSize(),
        inFlight: IN_FLIGHT,
        send: (body: S3Body) => upload.send(body),
      };
      const { rest, digest, failure } = await pour(source, pouring, { digest: "from the start" });
      if (failure !== null) throw failure.error;
      return { size: await upload.end(rest.body(), onlyNew), sha256: digest?.digest("hex") ?? "" };
    } catch (error) {
      await upload.abort();
      throw error;
    } finally {
      this.#writing.delete(key);
    }
  }

  async putAll(blobs: readonly SmallBlob[]): Promise<BlobReceipt[]> {
    for (const { key } of blobs) assertKey(key);
    const stored: BlobKey[] = [];
    try {
      await inLanes(blobs, async ({ key, bytes }) => {
        await this.put(key, single(bytes), { length: bytes.length });
        stored.push(key);
      });
    } catch (error) {
      await this.#objects.deleteAll(stored.map((key) => this.#names.blob(key)));
      throw error;
    }
    return blobs.map(({ bytes }) => ({ size: bytes.length, sha256: hash("sha256", bytes, "hex") }));
  }

  async open(key: BlobKey, range?: BlobRange): Promise<AsyncIterable<Uint8Array> | null> {
    assertKey(key);
    return readObject(this.#objects, this.#names.blob(key), range);
  }

  async openDeleted(key: BlobKey): Promise<AsyncIterable<Uint8Array> | null> {
    assertKey(key);
    const name = this.#names.blob(key);
    const version = await this.#objects.findVersion(name);
    return version === null ? null : readObject(this.#objects, name, undefined, version);
  }

  async addressOf(key: BlobKey, origins: readonly string[]): Promise<string | null> {
    assertKey(key);
    if (!this.#gives || !origins.includes(this.#client.origin)) return null;
    return this.#client.addressOf(this.#names.blob(key), ADDRESS_SECONDS);
  }

  async delete(key: BlobKey): Promise<void> {
    assertKey(key);
    await this.#objects.delete(this.#names.blob(key));
    await this.#forgetReceipts([key]);
  }

  async removeAll(keys: readonly BlobKey[]): Promise<ReadonlyMap<BlobKey, unknown>> {
    const failed = new Map<BlobKey, unknown>();
    for (const key of keys) assertKey(key);
    const partial = (await rows.findPartials(this.#database, keys)).filter((row) => row.completed_at === null);
    await inLanes(partial, async ({ blob_key: key }) => {
      await this.#partials.discard(key).catch((error: unknown) => failed.set(key, error));
    });
    for (let at = 0; at < keys.length; at += DELETED_AT_ONCE) {
      const some = keys.slice(at, at + DELETED_AT_ONCE);
      try {
        const refused = await this.#objects.deleteAll(some.map((key) => this.#names.blob(key)));
        for (const [name, error] of refused) failed.set(this.#names.keyOfBlob(name) ?? name, error);
      } catch (error) {
        for (const key of some) failed.set(key, error);
      }
    }
    await this.#forgetReceipts(keys.filter((key) => !failed.has(key)));
    return failed;
  }

  async start(key: BlobKey, options: PutOptions = {}): Promise<void> {
    assertKey(key);
    await this.#partials.start(key, options.length ?? null);
  }

  async append(
    key: BlobKey,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options: { atomic?: boolean } = {},
  ): Promise<number> {
    assertKey(key);
    return this.#partials.append(key, offset, source, options.atomic ?? false);
  }

  async takeOver(key: BlobKey, _into: BlobKey): Promise<BlobKey> {
    assertKey(key);
    await this.#partials.takeOver(key);
    return key;
  }

  async partialLength(key: BlobKey): Promise<number | null> {
    assertKey(key);
    return this.#partials.length(key);
  }

  async complete(key: BlobKey): Promise<BlobReceipt> {
    assertKey(key);
    return this.#partials.complete(key);
  }

  async discard(key: BlobKey): Promise<void> {
    assertKey(key);
    await this.#partials.discard(key);
  }

  async readMark(): Promise<string | null> {
    return (await readMarkObject(this.#objects, this.#names.mark))?.text ?? null;
  }

  async replaceMark(before: string | null, mark: string): Promise<boolean> {
    const isConditional = await this.#isConditional();
    return replaceMarkObject(this.#objects, this.#names.mark, { before, mark, isConditional });
  }

  list(): AsyncIterable<StoredBlob> {
    return listBlobs(this.#objects, this.#names, this.#database, this.#writing);
  }

  async ping(): Promise<void> {
    await readText(await this.#client.request({ operation: "ping", method: "HEAD", name: "" }, PING));
  }

  diskRoom(): Promise<DiskRoom | null> {
    return Promise.resolve(null);
  }

  tallies(): readonly BlobStoreTally[] {
    return this.#client.tally.read();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.close();
  }

  /** Whether the store itself refuses a second object; where it does not, it is asked before. */
  async #requireFree(key: BlobKey): Promise<boolean> {
    const isConditional = await this.#isConditional();
    if (!isConditional && (await this.#objects.find(this.#names.blob(key))) !== null)
      throw new Error("The key is taken");
    return isConditional;
  }

  #isConditional(): Promise<boolean> {
    this.#conditional ??= this.#tryConditional();
    return this.#conditional;
  }

  async #tryConditional(): Promise<boolean> {
    try {
      const conditionalPut = await tryConditionalPut(this.#objects, this.#names);
      this.#log({ conditionalPut }, "the blob store answers");
      return conditionalPut;
    } catch (error) {
      this.#conditional = null;
      throw error;
    }
  }

  async #forgetReceipts(keys: readonly BlobKey[]): Promise<void> {
    const found = (await rows.findPartials(this.#database, keys)).filter((row) => row.completed_at !== null);
    await rows.deletePartials(
      this.#database,
      found.map((row) => row.blob_key),
    );
  }
}

/** A blob that comes in one go: one object, or a multipart upload once it is longer than a part. */
class WholeUpload {
  readonly #objects: S3Objects;
  readonly #name: string;
  readonly #partBytes: number;
  readonly #mark = randomUUID();
  readonly #parts: StoredPart[] = [];
  #length = 0;
  #number = 1;
  #uploadId: Promise<string> | null = null;

  constructor(objects: S3Objects, name: string, partBytes: number) {
    this.#objects = objects;
    this.#name = name;
    this.#partBytes = partBytes;
  }

  nextSize(): number {
    return sizeOfPart(this.#number, this.#partBytes);
  }

  async send(body: S3Body): Promise<void> {
    const number = this.#number;
    this.#number += 1;
    this.#length += body.bytes;
    this.#uploadId ??= this.#objects.createUpload(this.#name, this.#mark);
    const etag = await this.#objects.putPart(this.#name, await this.#uploadId, number, body);
    this.#parts.push({ number, etag });
  }

  /** The last bytes; the length of all. */
  async end(rest: S3Body, onlyNew: boolean): Promise<number> {
    const [objects, name] = [this.#objects, this.#name];
    if (this.#uploadId === null) {
      if (!(await objects.put(name, rest, { mark: this.#mark, onlyNew }))) throw new Error("The key is taken");
      return rest.bytes;
    }
    if ((await objects.find(name)) !== null) throw new Error("The key is taken");
    if (rest.bytes > 0) await this.send(rest);
    this.#parts.sort((left, right) => left.number - right.number);
    await this.#complete(await this.#uploadId, onlyNew);
    this.#uploadId = null;
    return this.#length;
  }

  async abort(): Promise<void> {
    // What cannot be aborted now is listed as incomplete, and the sweep does it.
    const uploadId = await this.#uploadId?.catch(() => null);
    if (uploadId != null) await this.#objects.abortUpload(this.#name, uploadId).catch(() => undefined);
  }

  async #complete(uploadId: string, onlyNew: boolean): Promise<void> {
    const [objects, name] = [this.#objects, this.#name];
    try {
      await completeChecked(objects, { name, uploadId }, this.#parts, onlyNew);
    } catch (error) {
      // The answer to an earlier try may have been lost.
      if ((await objects.find(name).catch(() => null))?.mark !== this.#mark) throw error;
    }
    const found = await objects.find(name);
    if (found?.size !== this.#length) throw new Error(`The store made ${found?.size ?? 0} bytes of ${this.#length}`);
  }
}

async function* single(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

function ignore(): void {}
