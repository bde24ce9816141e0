/** The bytes of an encrypted file as an upload reads them, made part by part from the plaintext. */
import {
  chunkCount,
  encryptPart,
  reencryptPart,
  type CryptoPlatform,
  type FilePlan,
  type PartRecord,
  type ReadContent,
} from "@coffer/crypto";
import type { Source } from "../upload/source.ts";

/** Chunks of one part: 8 MiB of content. */
export const PART_CHUNKS = 512;

/** What a crash must not lose (file-format §5): which bytes were made of which part, before any of them is sent. */
export interface PartJournal {
  /** The record of a part that was made before; null: it never was. */
  find(firstChunk: number): PartRecord | null;
  /** Durable when it resolves. */
  note(record: PartRecord): Promise<void>;
}

const FORGETFUL: PartJournal = { find: () => null, note: () => Promise.resolve() };

/**
 * Reads forward; one part is in memory. What a journal knows of a part must come out again, or `source_changed` is thrown and nothing of it
 * is sent. Closes the content with it.
 */
export function encryptedSource(
  platform: CryptoPlatform,
  plan: FilePlan,
  content: Source,
  options: { readonly journal?: PartJournal | undefined; readonly signal?: AbortSignal | undefined } = {},
): Source {
  const { journal = FORGETFUL, signal } = options;
  const abortable = signal === undefined ? {} : { signal };
  const chunks = chunkCount(plan);
  let part: { readonly start: number; readonly bytes: Uint8Array; readonly index: number } | null = null;
  const open = async (index: number): Promise<NonNullable<typeof part>> => {
    const firstChunk = index * PART_CHUNKS;
    const known = journal.find(firstChunk);
    const made =
      known === null
        ? await encryptPart(
            platform,
            plan,
            readFrom(content),
            firstChunk,
            Math.min(firstChunk + PART_CHUNKS, chunks),
            abortable,
          )
        : await reencryptPart(platform, plan, readFrom(content), known, abortable);
    if (known === null) await journal.note(made.record);
    return { start: made.fileOffset, bytes: made.bytes, index };
  };
  return {
    size: plan.fileSize,
    read: async (offset, target) => {
      let filled = 0;
      while (filled < target.length && offset + filled < (plan.fileSize ?? 0)) {
        const at = offset + filled;
        if (part === null || at < part.start) part = await open(0);
        while (at >= part.start + part.bytes.length) part = await open(part.index + 1);
        const slice = part.bytes.subarray(at - part.start, at - part.start + target.length - filled);
        target.set(slice, filled);
        filled += slice.length;
      }
      return filled;
    },
    close: () => content.close(),
  };
}

const READ_BYTES = 1024 * 1024;

function readFrom(content: Source): ReadContent {
  return async function* read(from, to) {
    for (let offset = from; offset < to;) {
      const piece = new Uint8Array(Math.min(READ_BYTES, to - offset));
      const filled = await content.read(offset, piece);
      // Too little is told by who counts: the plan says how much there must be.
      if (filled === 0) return;
      yield piece.subarray(0, filled);
      offset += filled;
    }
  };
}
