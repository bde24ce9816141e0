/** Blobs in a directory. Held by test/suites/blob-store.ts; the disk is reached through disk/file-system.ts alone. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  BlobStoreAwayError,
  type BlobKey,
  type BlobRange,
  type BlobReceipt,
  type BlobStore,
  type BlobStoreCapabilities,
  type SmallBlob,
  type StoredBlob,
} from "../../ports/blob-store.ts";
import type { DiskRoom } from "../../ports/disk-room.ts";
import type { Durations } from "../../ports/durations.ts";
import type { OnStorageFault } from "../../ports/storage-faults.ts";
import { readDiskRoom } from "../disk-room.ts";
import { BufferPool } from "./disk/buffers.ts";
import { diskFileSystem, type FileSystem } from "./disk/file-system.ts";
import { keepingFree } from "./disk/free-space.ts";
import { Health } from "./disk/health.ts";
import { keyOfFile, type Layout, layoutOf } from "./disk/layout.ts";
import { MarkFile } from "./disk/mark-file.ts";
import { digestFile, Partials } from "./disk/partials.ts";
import { readRange } from "./disk/reading.ts";
import { storeTogether } from "./disk/storing-together.ts";
import { BatchWriter } from "./disk/writing.ts";
import { assertKey } from "./keys.ts";
import { removeEach } from "./removing.ts";

export interface DiskBlobsOptions {
  /** Made when missing, mode 0700. */
  readonly directory: string;
  /** Bytes of the disk that contents leave free; default: none. */
  readonly reserveBytes?: number;
  /** Tests put a double here. */
  readonly fileSystem?: FileSystem;
  readonly onFault?: OnStorageFault;
}

/** Large buffers out at once, for writing and for reading each: what bounds the memory of many transfers. */
const BUFFERS = 32;

/** Opens or creates a store. Several processes may use one directory; a key is only ever written by one of them. */
export async function openDiskBlobs(options: DiskBlobsOptions): Promise<BlobStore> {
  const { directory, reserveBytes: bytes = 0, onFault = ignore } = options;
  const files = keepingFree(options.fileSystem ?? diskFileSystem, { directory, bytes });
  const layout = layoutOf(directory);
  await makeDirectories(files, layout);
  return new DiskBlobStore(files, layout, new Health(onFault), () => readDiskRoom(directory, bytes));
}

/** Contents of a directory that is only read: a backup may lie on a medium that takes no writes. */
export function readDiskBlobs(directory: string): Pick<BlobStore, "open"> {
  const [layout, pool] = [layoutOf(directory), new BufferPool(BUFFERS)];
  return {
    async open(key) {
      assertKey(key);
      const path = layout.blob(key);
      const facts = await diskFileSystem.facts(path);
      return facts === null ? null : readRange(diskFileSystem, path, 0, facts.size, pool);
    },
  };
}

async function makeDirectories(files: FileSystem, layout: Layout): Promise<void> {
  for (const directory of layout.directories) await files.makeDirectory(directory);
  for (const parent of [join(layout.temporaries, ".."), join(layout.temporaries, "..", "blobs")])
    await files.flushDirectory(parent);
}

function ignore(): void {}

class DiskBlobStore implements BlobStore {
  readonly capabilities: BlobStoreCapabilities = { partBytes: 1, sharesClock: true };
  readonly #files: FileSystem;
  readonly #layout: Layout;
  readonly #health: Health;
  readonly #readRoom: () => Promise<DiskRoom>;
  readonly #writeBuffers = new BufferPool(BUFFERS);
  readonly #readBuffers = new BufferPool(BUFFERS);
  readonly #partials: Partials;
  readonly #mark: MarkFile;
  /** What `put` is writing in this process. */
  readonly #writing = new Set<BlobKey>();

  constructor(files: FileSystem, layout: Layout, health: Health, readRoom: () => Promise<DiskRoom>) {
    this.#files = files;
    this.#layout = layout;
    this.#health = health;
    this.#readRoom = readRoom;
    this.#partials = new Partials({ files, layout, health, pool: this.#writeBuffers });
    this.#mark = new MarkFile({ files, layout, health });
  }

  get flushes(): Durations {
    return this.#health.flushes;
  }

  async put(key: BlobKey, source: AsyncIterable<Uint8Array>): Promise<BlobReceipt> {
    assertKey(key);
    this.#health.assert();
    const temporary = this.#layout.temporary(key);
    const file = await this.#health.guard(this.#files.create(temporary));
    this.#writing.add(key);
    const digest = createHash("sha256");
    const flush = (): Promise<void> => this.#health.flush(file.flush());
    const writer = new BatchWriter({ file, position: 0, digest, pool: this.#writeBuffers, flush });
    try {
      for await (const chunk of source) await this.#health.guard(writer.add(chunk));
      await this.#health.guard(writer.finish());
      await flush();
      const sha256 = digest.digest("hex");
      await this.#publish(temporary, key);
      return { size: writer.position, sha256 };
    } catch (error) {
      await writer.settle();
      throw error;
    } finally {
      // The bytes are durable under their key by now, or refused. A name that stays is a crash's remainder, which is cleaned up later.
      await file.close().catch(ignore);
      await this.#files.remove(temporary).catch(ignore);
      this.#writing.delete(key);
    }
  }

  async putAll(blobs: readonly SmallBlob[]): Promise<BlobReceipt[]> {
    for (const { key } of blobs) assertKey(key);
    this.#health.assert();
    const [files, layout, health, writing] = [this.#files, this.#layout, this.#health, this.#writing];
    return storeTogether(blobs, { files, layout, health, writing });
  }

  async open(key: BlobKey, range?: BlobRange): Promise<AsyncIterable<Uint8Array> | null> {
    assertKey(key);
    const path = this.#layout.blob(key);
    const facts = await this.#files.facts(path);
    if (facts === null) return this.#absent(this.#layout.blobDirectory(key));
    const offset = Math.min(range?.offset ?? 0, facts.size);
    const end = range === undefined ? facts.size : Math.min(offset + range.length, facts.size);
    return readRange(this.#files, path, offset, end, this.#readBuffers);
  }

  async delete(key: BlobKey): Promise<void> {
    assertKey(key);
    await this.#files.remove(this.#layout.blob(key));
  }

  removeAll(keys: readonly BlobKey[]): Promise<ReadonlyMap<BlobKey, unknown>> {
    return removeEach(this, keys);
  }

  async start(key: BlobKey): Promise<void> {
    assertKey(key);
    this.#health.assert();
    await this.#partials.start(key);
  }

  async append(
    key: BlobKey,
    offset: number,
    source: AsyncIterable<Uint8Array>,
    options: { atomic?: boolean } = {},
  ): Promise<number> {
    assertKey(key);
    this.#health.assert();
    return this.#partials.append(key, offset, source, options.atomic ?? false);
  }

  async takeOver(key: BlobKey, into: BlobKey): Promise<BlobKey> {
    const length = await this.partialLength(key);
    if (length === null) throw new RangeError("There is no such partial blob");
    await this.start(into);
    const copied = await this.append(
      into,
      0,
      readRange(this.#files, this.#layout.partial(key), 0, length, this.#readBuffers),
    );
    if (copied !== length) throw new Error(`The partial ${key} has fewer bytes than were flushed`);
    return into;
  }

  async partialLength(key: BlobKey): Promise<number | null> {
    assertKey(key);
    return this.#partials.length(key);
  }

  async complete(key: BlobKey): Promise<BlobReceipt> {
    assertKey(key);
    this.#health.assert();
    const receipt = await this.#partials.complete(key, () => this.#publishPartial(key));
    if (receipt !== null) return receipt;
    const found = await this.#receiptOfBlob(key);
    // A kill may have come when the partial's length was removed and its content was not: then nothing else would.
    await this.#files.remove(this.#layout.partial(key));
    return found;
  }

  async discard(key: BlobKey): Promise<void> {
    assertKey(key);
    await this.#partials.discard(key);
    if (!this.#writing.has(key)) await this.#files.remove(this.#layout.temporary(key));
  }

  async readMark(): Promise<string | null> {
    return (await this.#mark.read()).text;
  }

  async replaceMark(before: string | null, mark: string): Promise<boolean> {
    this.#health.assert();
    return this.#mark.replace(before, mark);
  }

  async *list(): AsyncIterable<StoredBlob> {
    for (const directory of this.#layout.blobs) yield* await this.#describe(directory, true);
    for (const directory of [this.#layout.temporaries, this.#layout.partials])
      yield* await this.#describe(directory, false);
  }

  async ping(): Promise<void> {
    this.#health.assert();
    for (const directory of [this.#layout.temporaries, this.#layout.partials]) await this.#assertThere(directory);
  }

  diskRoom(): Promise<DiskRoom> {
    return this.#readRoom();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  /** A store that is gone, such as one that is not mounted, says of no blob that it does not exist. */
  async #absent(directory: string): Promise<null> {
    await this.#assertThere(directory);
    return null;
  }

  async #assertThere(directory: string): Promise<void> {
    if ((await this.#files.facts(directory)) === null)
      throw new BlobStoreAwayError(`The directory ${directory} is gone`);
  }

  /** Gives a flushed file its final name, durably. */
  async #publish(path: string, key: BlobKey): Promise<void> {
    await this.#health.guard(this.#files.link(path, this.#layout.blob(key)));
    try {
      await this.#health.flush(this.#files.flushDirectory(this.#layout.blobDirectory(key)));
    } catch (error) {
      await this.#files.remove(this.#layout.blob(key)).catch(ignore);
      throw error;
    }
  }

  /** A kill may have come between the final name and the removal of the partial one: then the name is there already. */
  async #publishPartial(key: BlobKey): Promise<void> {
    if ((await this.#files.facts(this.#layout.blob(key))) === null)
      return this.#publish(this.#layout.partial(key), key);
    await this.#health.flush(this.#files.flushDirectory(this.#layout.blobDirectory(key)));
  }

  /** A `complete` that was killed before its answer is asked for again. */
  async #receiptOfBlob(key: BlobKey): Promise<BlobReceipt> {
    const path = this.#layout.blob(key);
    const facts = await this.#files.facts(path);
    if (facts === null) throw new RangeError("There is no such partial blob");
    const parts = { files: this.#files, pool: this.#writeBuffers };
    return { size: facts.size, sha256: await digestFile(parts, path, facts.size) };
  }

  async #describe(directory: string, complete: boolean): Promise<StoredBlob[]> {
    const keys = new Set<BlobKey>();
    for (const name of await this.#files.list(directory)) {
      const key = keyOfFile(name);
      if (key !== null && (complete || !this.#writing.has(key))) keys.add(key);
    }
    const found = await Promise.all([...keys].map((key) => this.#describeOne(directory, key, complete)));
    return found.filter((blob) => blob !== null);
  }

  async #describeOne(directory: string, key: BlobKey, complete: boolean): Promise<StoredBlob | null> {
    const path = join(directory, key);
    const facts = (await this.#files.facts(path)) ?? (await this.#files.facts(`${path}.length`));
    return facts === null ? null : { key, size: facts.size, modifiedAt: facts.modifiedAt, complete };
  }
}
