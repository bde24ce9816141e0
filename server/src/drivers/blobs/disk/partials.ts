/**
 * Partial blobs: a file that grows, and beside it the length up to which it is durable. The file's own length is no
 * proof: after a power loss it may cover bytes that were never written.
 */
import { createHash, type Hash } from "node:crypto";
import type { BlobKey, BlobReceipt } from "../../../ports/blob-store.ts";
import { type BufferPool, LARGE } from "./buffers.ts";
import { errorCode, type FileSystem, type OpenFile } from "./file-system.ts";
import type { Health } from "./health.ts";
import type { Layout } from "./layout.ts";
import { BatchWriter } from "./writing.ts";

/** How much of a long append is made durable at a time: what a kill costs at most. */
const CHECKPOINT = 64 * LARGE;
/** Each append waits for its flush. So the flush of its first half goes on while the second arrives: clients send parts of 16 MiB. */
const FLUSH_EVERY = 4 * LARGE;
/** Partials whose digest stays in memory between appends; for others it is computed again at the end. */
const DIGESTS_KEPT = 1024;
const LENGTH_DIGITS = 16;

export interface PartialsParts {
  readonly files: FileSystem;
  readonly layout: Layout;
  readonly health: Health;
  readonly pool: BufferPool;
}

export class Partials {
  readonly #parts: PartialsParts;
  /** Digest of the durable bytes of a partial, oldest use first. */
  readonly #digests = new Map<BlobKey, { readonly length: number; readonly digest: Hash }>();
  readonly #busy = new Set<BlobKey>();

  constructor(parts: PartialsParts) {
    this.#parts = parts;
  }

  async start(key: BlobKey): Promise<void> {
    const { files, layout, health } = this.#parts;
    if ((await files.facts(layout.blob(key))) !== null) throw new Error("The key is taken");
    const content = await health.guard(files.create(layout.partial(key)));
    try {
      await health.guard(content.close());
      const lengthFile = await health.guard(files.create(layout.partialLength(key)));
      await this.#finally(lengthFile, () => this.#record(lengthFile, 0));
      await health.flush(files.flushDirectory(layout.partials));
    } catch (error) {
      await this.#removeFiles(key).catch(() => undefined);
      throw error;
    }
  }

  append(key: BlobKey, offset: number, source: AsyncIterable<Uint8Array>, atomic: boolean): Promise<number> {
    return this.#exclusively(key, async () => {
      const length = await this.length(key);
      if (length === null) throw new RangeError("There is no such partial blob");
      if (offset !== length) throw new RangeError(`The partial blob has ${length} bytes, not ${offset}`);
      const { files, layout, health } = this.#parts;
      const content = await health.guard(files.open(layout.partial(key), "write"));
      return this.#finally(content, async () => {
        const lengthFile = await health.guard(files.open(layout.partialLength(key), "write"));
        return this.#finally(lengthFile, () => this.#grow(key, { content, lengthFile, length, atomic }, source));
      });
    });
  }

  /** null: no such partial. */
  async length(key: BlobKey): Promise<number | null> {
    const { files, layout } = this.#parts;
    const text = Buffer.alloc(LENGTH_DIGITS);
    try {
      const file = await files.open(layout.partialLength(key), "read");
      const count = await this.#finally(file, () => file.read(text, 0));
      // A completed partial's names may come back one without the other after a power loss.
      if ((await files.facts(layout.partial(key))) === null) return null;
      // The name was durable before the first digit was: the partial had begun and held nothing.
      return count === LENGTH_DIGITS ? Number.parseInt(text.toString("latin1"), 10) : 0;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return null;
      throw error;
    }
  }

  /** The caller moves the content to its final name in `move`; null when there is no such partial. */
  complete(key: BlobKey, move: () => Promise<void>): Promise<BlobReceipt | null> {
    return this.#exclusively(key, async () => {
      const size = await this.length(key);
      if (size === null) return null;
      await this.#cut(key, size);
      const sha256 = await this.#digestOf(key, size);
      await move();
      await this.#removeFiles(key);
      return { size, sha256 };
    });
  }

  discard(key: BlobKey): Promise<void> {
    return this.#exclusively(key, async () => {
      this.#digests.delete(key);
      await this.#removeFiles(key);
    });
  }

  isBusy(key: BlobKey): boolean {
    return this.#busy.has(key);
  }

  async #grow(key: BlobKey, partial: Growing, source: AsyncIterable<Uint8Array>): Promise<number> {
    const { health, pool } = this.#parts;
    const { content } = partial;
    // What a killed append left behind the durable length would otherwise shine through a shorter one.
    await health.guard(content.truncate(partial.length));
    const digest = this.#removeDigest(key, partial.length);
    const before = partial.atomic ? (digest?.copy() ?? null) : null;
    const flush = (): Promise<void> => health.flush(content.flush());
    const writer = new BatchWriter({
      file: content,
      position: partial.length,
      digest,
      pool,
      flush,
      flushEvery: FLUSH_EVERY,
    });
    let durable = partial.length;
    let recorded = partial.length;
    const checkpoint = async (): Promise<void> => {
      await health.guard(writer.finish());
      await flush();
      recorded = writer.position;
      await this.#record(partial.lengthFile, writer.position);
      durable = writer.position;
    };
    try {
      const failure = await this.#pour(
        source,
        writer,
        partial.atomic ? Number.POSITIVE_INFINITY : CHECKPOINT,
        checkpoint,
      );
      if (failure !== null && partial.atomic) throw failure.error;
      await checkpoint();
      if (digest !== null) this.#storeDigest(key, durable, digest);
      if (failure !== null) throw new SourceFailure(failure.error);
      return durable;
    } catch (error) {
      if (error instanceof SourceFailure) throw error.error;
      await writer.settle();
      if (before !== null) this.#storeDigest(key, partial.length, before);
      // Frees the space; never below what the length file may say by now, although its flush failed.
      await content.truncate(recorded).catch(() => undefined);
      throw error;
    }
  }

  /** Takes the whole source in. A failure of the source itself is returned, one of the medium thrown. */
  async #pour(
    source: AsyncIterable<Uint8Array>,
    writer: BatchWriter,
    interval: number,
    checkpoint: () => Promise<void>,
  ): Promise<{ readonly error: unknown } | null> {
    const steps = source[Symbol.asyncIterator]();
    let next = writer.position + interval;
    for (;;) {
      let step: IteratorResult<Uint8Array, unknown>;
      try {
        step = await steps.next();
      } catch (error) {
        return { error };
      }
      if (step.done === true) return null;
      try {
        await this.#parts.health.guard(writer.add(step.value));
        if (writer.position < next) continue;
        await checkpoint();
        next = writer.position + interval;
      } catch (error) {
        await steps.return?.();
        throw error;
      }
    }
  }

  async #record(lengthFile: OpenFile, length: number): Promise<void> {
    // A few bytes in place: they lie in one sector, which a disk writes whole or not at all.
    const text = Buffer.from(String(length).padStart(LENGTH_DIGITS, "0"), "latin1");
    await this.#parts.health.guard(lengthFile.write(text, 0));
    await this.#parts.health.flush(lengthFile.flush());
  }

  async #cut(key: BlobKey, length: number): Promise<void> {
    const { files, layout, health } = this.#parts;
    const facts = await files.facts(layout.partial(key));
    if (facts !== null && facts.size === length) return;
    const content = await health.guard(files.open(layout.partial(key), "write"));
    await this.#finally(content, async () => {
      await health.guard(content.truncate(length));
      await health.flush(content.flush());
    });
  }

  async #digestOf(key: BlobKey, size: number): Promise<string> {
    const kept = this.#digests.get(key);
    this.#digests.delete(key);
    if (kept?.length === size) return kept.digest.digest("hex");
    return digestFile(this.#parts, this.#parts.layout.partial(key), size);
  }

  /** null: not known, to be computed at the end. */
  #removeDigest(key: BlobKey, length: number): Hash | null {
    const kept = this.#digests.get(key);
    this.#digests.delete(key);
    if (kept?.length === length) return kept.digest;
    return length === 0 ? createHash("sha256") : null;
  }

  #storeDigest(key: BlobKey, length: number, digest: Hash): void {
    this.#digests.set(key, { length, digest });
    if (this.#digests.size <= DIGESTS_KEPT) return;
    const oldest = this.#digests.keys().next();
    if (oldest.done !== true) this.#digests.delete(oldest.value);
  }

  async #removeFiles(key: BlobKey): Promise<void> {
    const { files, layout } = this.#parts;
    // The length goes first: without it the content is no longer a partial.
    await files.remove(layout.partialLength(key));
    await files.remove(layout.partial(key));
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

  async #finally<Result>(file: OpenFile, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      await file.close();
    }
  }
}

interface Growing {
  readonly content: OpenFile;
  readonly lengthFile: OpenFile;
  readonly length: number;
  readonly atomic: boolean;
}

/** Carries a source's own error past the clean-up for errors of the medium. */
class SourceFailure extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super("source failed");
    this.error = error;
  }
}

/** SHA-256 of the first `size` bytes of a file, in hex. */
export async function digestFile(
  parts: Pick<PartialsParts, "files" | "pool">,
  path: string,
  size: number,
): Promise<string> {
  const file = await parts.files.open(path, "read");
  const digest = createHash("sha256");
  const buffer = parts.pool.acquire();
  try {
    for (let position = 0; position < size;) {
      const count = await file.read(buffer.subarray(0, Math.min(buffer.length, size - position)), position);
      if (count === 0) throw new Error(`${path} is shorter than its durable length`);
      digest.update(buffer.subarray(0, count));
      position += count;
    }
    return digest.digest("hex");
  } finally {
    parts.pool.release(buffer);
    await file.close();
  }
}
