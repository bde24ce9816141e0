/** Content for tests: the same seed gives the same bytes. */
import { setImmediate } from "node:timers/promises";
import { createCipheriv, createHash } from "node:crypto";

/** Bytes without a pattern that a shift or a swap of blocks could hide in: the key stream of a cipher. */
export function patternBytes(seed: string, length: number): Buffer {
  const key = createHash("sha256").update(seed).digest();
  return createCipheriv("aes-256-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** `bytes` in chunks of the given sizes, again and again; each lies in one buffer that is reused. */
export async function* inChunks(bytes: Uint8Array, ...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(Math.max(1, ...sizes));
  for (let offset = 0, turn = 0; offset < bytes.length; turn += 1) {
    const size = Math.min(sizes[turn % sizes.length] ?? bytes.length, bytes.length - offset);
    const chunk = sizes.length === 0 ? Buffer.from(bytes) : buffer.subarray(0, size);
    chunk.set(bytes.subarray(offset, offset + size));
    offset += size;
    // A turn of the event loop, as a socket would take: what the store does meanwhile must not see the next chunk.
    await setImmediate();
    yield chunk;
    buffer.fill(0xee);
  }
}

/** What comes before `failure`, then the failure. */
export async function* failingAfter(
  bytes: Uint8Array,
  failure: Error,
  ...sizes: readonly number[]
): AsyncGenerator<Uint8Array> {
  yield* inChunks(bytes, ...sizes);
  throw failure;
}

/** All bytes; of null (there is no such blob) none. */
export async function collect(chunks: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const copies: Buffer[] = [];
  if (chunks === null) return Buffer.alloc(0);
  for await (const chunk of chunks) copies.push(Buffer.from(chunk));
  return Buffer.concat(copies);
}

export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
