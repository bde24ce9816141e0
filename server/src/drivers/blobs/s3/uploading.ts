/** Bytes become parts: one fills while those before are on their way. Many transfers together hold little more than the pool's most. */
import { createHash, type Hash } from "node:crypto";
import { type BlockPool, Filling } from "./blocks.ts";
import type { S3Body } from "./client.ts";

export interface Pouring {
  readonly pool: BlockPool;
  /** The size of the next part, in bytes. */
  readonly nextSize: () => number;
  /** How many parts may be on their way while the next one fills, unless the pool is crowded. */
  readonly inFlight: number;
  /** Stores a part that is full. The block's memory is taken back when it has settled. */
  readonly send: (body: S3Body) => Promise<void>;
}

export interface Poured {
  /** What is too short for a part; the caller releases it. */
  readonly rest: Filling;
  /** The digest of all bytes from the beginning on; null: it was not known before. */
  readonly digest: Hash | null;
  /** The source's own failure. */
  readonly failure: { readonly error: unknown } | null;
}

/** The store's failures reject; a source's failure comes with what had arrived. */
export async function pour(
  source: AsyncIterable<Uint8Array>,
  { pool, nextSize, inFlight, send }: Pouring,
  { rest: first, digest: before }: { readonly rest?: Filling; readonly digest: Hash | null | "from the start" },
): Promise<Poured> {
  let filling = first ?? new Filling(pool);
  /** The whole digest is the first part's own until that is full, if parts have one: most blobs are hashed once. */
  let isWhole = before === "from the start" && pool.signsBodies;
  const whole = isWhole ? null : createHash("sha256");
  let digest = before === "from the start" ? whole : before;
  const sending: Promise<unknown>[] = [];
  let failure: { readonly error: unknown } | null = null;
  const add = async (chunk: Uint8Array): Promise<void> => {
    for (let at = 0; at < chunk.length;) {
      const room = nextSize() - filling.length;
      const piece = chunk.subarray(at, at + room);
      filling.add(piece);
      if (!isWhole) digest?.update(piece);
      at += piece.length;
      if (filling.length < nextSize()) continue;
      if (isWhole) [digest, isWhole] = [filling.digest(), false];
      if (sending.length >= inFlight) await sending.shift();
      const full = filling;
      const sent = send(full.body()).finally(() => full.release());
      // It is awaited later: until then its failure is nobody's.
      sent.catch(() => undefined);
      sending.push(sent);
      filling = new Filling(pool);
      while (pool.isCrowded && sending.length > 0) await sending.shift();
    }
  };
  try {
    const steps = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await nextOf(steps);
        if ("error" in step) failure = step;
        if ("error" in step || step.done === true) break;
        await add(step.value);
      }
    } finally {
      if (failure === null) await steps.return?.();
    }
    await Promise.all(sending);
  } catch (error) {
    filling.release();
    await Promise.allSettled(sending);
    throw error;
  }
  return { rest: filling, digest: isWhole ? filling.digest() : digest, failure };
}

/** A source's failure is told from the store's by where it comes from. */
async function nextOf(
  steps: AsyncIterator<Uint8Array>,
): Promise<IteratorResult<Uint8Array, unknown> | { readonly error: unknown }> {
  try {
    return await steps.next();
  } catch (error) {
    return { error };
  }
}
