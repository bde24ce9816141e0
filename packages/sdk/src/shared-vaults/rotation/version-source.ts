/** The content of one stored version as a source that can be read again: a rotation reads it, and encrypts it again from there. */
import { iterate } from "../../http/byte-body.ts";
import type { WireFile } from "../../storage/file.ts";
import type { Connection } from "../../connection/options.ts";
import { sourceChanged, type Source } from "../../transfer/source.ts";
import { openShared } from "../content/encrypted-download.ts";
import type { OpenVault } from "../open-vault.ts";

/**
 * Every byte of it has passed the reading order. A second read fetches and verifies it again: a version never changes.
 * After its replacement it stays readable by its id until its days are over. `size`: bytes of the content.
 */
export function versionSource(
  connection: Connection,
  vault: OpenVault,
  file: WireFile,
  { size, signal }: { readonly size: number; readonly signal?: AbortSignal | undefined },
): Source {
  let reading: Reading | null = null;
  const close = async (): Promise<void> => {
    await reading?.pieces.return?.();
    reading = null;
  };
  const openAt = async (offset: number): Promise<Reading> => {
    if (reading !== null && reading.position <= offset) return reading;
    await close();
    const { stream } = await openShared(connection, vault, file, { signal, reuseBuffer: true });
    return (reading = { pieces: iterate(stream), unread: new Uint8Array(), position: 0 });
  };
  return {
    size,
    rereadable: true,
    read: async (offset, target) => {
      const open = await openAt(offset);
      await skip(open, offset - open.position);
      return fill(open, target, offset + target.length >= size);
    },
    close,
  };
}

interface Reading {
  readonly pieces: AsyncIterator<Uint8Array>;
  unread: Uint8Array;
  /** Where `rest` begins in the content. */
  position: number;
}

/** `toEnd`: it must see the end too, because only that shows that the whole is authentic. */
async function fill(reading: Reading, target: Uint8Array, toEnd: boolean): Promise<number> {
  let filled = 0;
  while (filled < target.length && (await isMore(reading))) {
    const piece = consume(reading, target.length - filled);
    target.set(piece, filled);
    filled += piece.length;
  }
  if (toEnd && (await isMore(reading))) throw sourceChanged("The version has more bytes than its entry says");
  return filled;
}

async function skip(reading: Reading, count: number): Promise<void> {
  for (let remaining = count; remaining > 0 && (await isMore(reading));)
    remaining -= consume(reading, remaining).length;
}

async function isMore(reading: Reading): Promise<boolean> {
  while (reading.unread.length === 0) {
    const next = await reading.pieces.next();
    if (next.done === true) return false;
    reading.unread = next.value;
  }
  return true;
}

function consume(reading: Reading, most: number): Uint8Array {
  const piece = reading.unread.subarray(0, most);
  reading.unread = reading.unread.subarray(piece.length);
  reading.position += piece.length;
  return piece;
}
