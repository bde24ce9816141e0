/** Bytes become parts: one fills while those before are on their way. */
import { createHash, type Hash } from "node:crypto";
import type { S3Body } from "./client.ts";
import { Filling } from "./filling.ts";
import type { Semaphore } from "./semaphore.ts";

export interface Pouring {
  /** Whether bodies are sent with a digest. */
  readonly signsBodies: boolean;
  /** Of all transfers: a part waits for a permit to be sent, and its transfer takes no more bytes meanwhile. */
  readonly sending: Semaphore;
  /** The size of the next part, in bytes. */
  readonly nextSize: () => number;
  /** How many of its parts may be on their way while the next one fills. */
  readonly inFlight: number;
  /** Stores a part that is full. */
  readonly send: (body: S3Body) => Promise<void>;
}

export interface Poured {
  /** What is too short for a part. */
  readonly rest: Filling;
  /** The digest of all bytes from the beginning on; null: it was not known before. */
  readonly digest: Hash | null;
  /** The source's own failure. */
  readonly failure: { readonly error: unknown } | null;
}

/** The store's failures reject; a source's failure comes with what had arrived. */
export async function pour(
  source: AsyncIterable<Uint8Array>,
  { signsBodies, sending: permits, nextSize, inFlight, send }: Pouring,
  { rest: first, digest: before }: { readonly rest?: Filling; readonly digest: Hash | null | "from the start" },
): Promise<Poured> {
  let filling = first ?? new Filling(signsBodies);
  /** The whole digest is the first part's own until that is full, if parts have one: most blobs are hashed once. */
  let isWhole = before === "from the start" && signsBodies;
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
      await permits.acquire();
      const sent = send(filling.body()).finally(() => permits.release());
      // It is awaited later: until then its failure is nobody's.
      sent.catch(() => undefined);
      sending.push(sent);
      filling = new Filling(signsBodies);
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
