import { createHasher, toHex, type Hasher } from "./digest.ts";
import { ApiError, IntegrityError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { isWorthRepeating, Repeats } from "../http/retry.ts";
import type { ByteRange, ContentFacts, DownloadOptions } from "./content-headers.ts";

export interface Reading {
  readonly connection: Connection;
  readonly options: DownloadOptions;
  readonly facts: ContentFacts;
  readonly first: ReadableStream<Uint8Array>;
  /** For a whole read: the SHA-256 that the bytes must have. null: nobody needs to know. */
  sha256: string | null;
  /** Requests the rest of the same version. */
  readonly reopen: (from: ByteRange) => Promise<ReadableStream<Uint8Array>>;
}

export interface VerifiedStream {
  readonly stream: ReadableStream<Uint8Array>;
  /** The next piece, or null at the end, for a reader who needs no stream of it. */
  readonly read: () => Promise<Uint8Array | null>;
  /**
   * Up to `count` bytes from the beginning of the stream, before anybody reads it; they stay in it. Does not fail: the
   * stream will.
   */
  readonly peek: (count: number) => Promise<Uint8Array>;
}

/** The part that was read ahead, in order: pieces, the end, a failure. */
type Ahead = (() => Uint8Array | null)[];

/** The announced bytes, counted and hashed on the way; see {@link Download.stream}. */
export function openVerifiedStream(reading: Reading): VerifiedStream {
  const { facts, options } = reading;
  let reader = reading.first.getReader();
  /** Bytes that came, also those that were read ahead and not given yet. */
  let fetched = 0;
  let received = 0;
  const repeats = new Repeats(reading.connection, options);
  let hasher: Hasher | null = null;
  const ahead: Ahead = [];

  async function next(): Promise<Uint8Array | null> {
    for (;;) {
      try {
        const result = await reader.read();
        if (result.done) return null;
        repeats.reset();
        fetched += result.value.length;
        return result.value;
      } catch (error) {
        await repeats.backOff(error, facts.etag !== null && fetched < facts.length && isWorthRepeating(error));
        reader = await reopen(reading, fetched);
      }
    }
  }

  async function read(): Promise<Uint8Array | null> {
    const { sha256 } = reading;
    if (sha256 !== null) hasher ??= await createHasher();
    const first = ahead.shift();
    const chunk = first ? first() : await next();
    received += chunk?.length ?? 0;
    if (received > facts.length) {
      await reader.cancel();
      throw new IntegrityError(`More than the announced ${String(facts.length)} bytes came`);
    }
    if (chunk !== null) {
      hasher?.update(chunk);
      options.onProgress?.({ bytes: received, total: facts.length });
    } else if (received < facts.length)
      throw new IntegrityError(`The content ended after ${String(received)} of ${String(facts.length)} bytes`);
    else if (hasher !== null && toHex(hasher.digest()) !== sha256)
      throw new IntegrityError("The bytes do not have the digest that the server announced");
    else if (received === 0) options.onProgress?.({ bytes: 0, total: 0 });
    return chunk;
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await read();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { stream, read, peek: (count) => readAhead(next, ahead, count) };
}

/** Reads up to `count` bytes ahead, and keeps all of them in `ahead`. */
async function readAhead(next: () => Promise<Uint8Array | null>, ahead: Ahead, count: number): Promise<Uint8Array> {
  const start = new Uint8Array(count);
  let filled = 0;
  try {
    while (filled < count) {
      const piece = await next();
      ahead.push(() => piece);
      if (piece === null) break;
      start.set(piece.subarray(0, count - filled), filled);
      filled += Math.min(piece.length, count - filled);
    }
  } catch (error) {
    ahead.push(() => {
      throw error;
    });
  }
  return start.subarray(0, filled);
}

/** After a broken connection: the rest of the same version. */
async function reopen(
  { facts, reopen: open }: Reading,
  fetched: number,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  try {
    return (await open({ offset: facts.start + fetched, length: facts.length - fetched })).getReader();
  } catch (failure) {
    throw isReplaced(failure) ? replaced() : failure;
  }
}

/** The version of this request is no longer the file's current one. */
export function isReplaced(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

export function replaced(): IntegrityError {
  return new IntegrityError("The file was replaced while it was read");
}
