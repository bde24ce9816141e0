import { PieceReader, readPieces, type ByteSource } from "./byte-source.ts";
import { concatBytes } from "./bytes.ts";
import { openMessageKeys, type MessageKeys } from "./cobblestone.ts";
import { damaged } from "./errors.ts";
import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES, type CryptoPlatform } from "./platform/platform.ts";
import { MESSAGE_PREFIX_BYTES } from "./sizes.ts";

/** Chunks per call of the cipher: 256 KiB. Larger pieces are worked on in such runs, so that memory does not follow their size. */
const RUN_CHUNKS = 16;

export interface EncryptChunksOptions {
  /** Number of the chunk that `source` begins with. */
  readonly firstChunk?: number;
  /** `source` ends with whole chunks, behind which the message goes on. */
  readonly unfinished?: boolean;
  /** A piece is valid until the one after the next is asked for. */
  readonly reuseBuffer?: boolean;
}

/** The chunks of a plaintext to the short final one, as stored; without salt and commitment. Holds one run at a time. */
export async function* encryptChunks(
  keys: MessageKeys,
  source: ByteSource,
  { firstChunk = 0, reuseBuffer = false, unfinished = false }: EncryptChunksOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(reuseBuffer);
  let chunk = firstChunk;
  for await (const { bytes, last } of runsOf(source, CHUNK_BYTES)) {
    if (last && unfinished && bytes.length === 0) return;
    yield join(await keys.encryptPieces(bytes, chunk, last && !unfinished));
    chunk += bytes.length / CHUNK_BYTES;
  }
}

/**
 * The plaintext of chunks from the first to the short final one; `source` begins behind the commitment. Gives what is in front of the
 * first chunk that does not authenticate, nothing of that chunk, and then throws CryptoError damaged; so too when the final chunk is
 * missing or something follows it. The final chunk is a piece of its own, even when it is empty.
 */
export async function* decryptChunks(
  keys: MessageKeys,
  source: ByteSource,
  reuseBuffer = false,
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(reuseBuffer);
  let chunk = 0;
  for await (const run of runsOf(source, BLOCK_BYTES)) {
    if (run.last && run.bytes.length < TAG_BYTES) throw damaged("chunks", "the message ends without its final chunk");
    yield* openRun(keys, run.bytes, chunk, join);
    chunk += run.bytes.length / BLOCK_BYTES;
  }
}

/** The plaintext of exactly the full chunks `firstChunk` to `endChunk`, of which `source` holds the stored form. */
export async function* decryptFullChunks(
  keys: MessageKeys,
  source: ByteSource,
  firstChunk: number,
  endChunk: number,
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(false);
  let chunk = firstChunk;
  for await (const { bytes, last } of runsOf(source, BLOCK_BYTES)) {
    if (last && (bytes.length > 0 || chunk !== endChunk)) throw damaged("chunks", "not all of the range came");
    if (last) return;
    const end = chunk + bytes.length / BLOCK_BYTES;
    if (end > endChunk) throw damaged("chunks", "more than the range came");
    yield* openRun(keys, bytes, chunk, join);
    chunk = end;
  }
}

/** The plaintext of a whole message. Throws CryptoError wrong_key before anything of it is given, damaged as `decryptChunks`. */
export async function* decryptMessageStream(
  platform: CryptoPlatform,
  key: Uint8Array,
  context: Uint8Array,
  source: ByteSource,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = new PieceReader(source);
  try {
    const keys = await openMessageKeys(platform, key, await reader.take(MESSAGE_PREFIX_BYTES), context);
    yield* decryptChunks(keys, reader);
  } finally {
    await reader.return();
  }
}

async function* openRun(
  keys: MessageKeys,
  bytes: Uint8Array,
  firstChunk: number,
  join: Joiner,
): AsyncGenerator<Uint8Array, void, void> {
  const { complete, pieces } = await keys.decryptPieces(bytes, firstChunk);
  if (complete || pieces.length > 0) yield join(pieces);
  if (!complete) throw damaged("chunks", "a chunk does not authenticate");
}

type Joiner = (pieces: readonly Uint8Array[]) => Uint8Array;

/** A run in one buffer: a new one each time, or one of two in turns, which leaves nothing for the garbage collector. */
function joiner(reuseBuffer: boolean): Joiner {
  if (!reuseBuffer)
    return (pieces) => {
      const run = concatBytes(...pieces);
      pieces.forEach(release);
      return run;
    };
  let [current, other] = [new Uint8Array(RUN_CHUNKS * BLOCK_BYTES), new Uint8Array(RUN_CHUNKS * BLOCK_BYTES)];
  return (pieces) => {
    [current, other] = [other, current];
    let length = 0;
    for (const piece of pieces) {
      current.set(piece, length);
      length += piece.length;
      release(piece);
    }
    return current.subarray(0, length);
  };
}

/**
 * Gives a copied piece's memory back at once. Left to the garbage collector, tens of MiB of them would wait, and each new one would be
 * memory that the system has to map first. Runtimes without `transfer` wait.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer?.(0);
}

interface Run {
  readonly bytes: Uint8Array;
  /** The rest of the source: less than a unit, perhaps nothing. */
  readonly last: boolean;
}

/**
 * Cuts a source into runs of whole units, as soon as there are some, and a last run of what is left over. A run's bytes are valid until
 * the next is asked for: they are the source's own piece, or a buffer that is filled again.
 */
async function* runsOf(source: ByteSource, unit: number): AsyncGenerator<Run, void, void> {
  const carry = new Uint8Array(unit);
  let carried = 0;
  for await (const piece of readPieces(source)) {
    let at = 0;
    if (carried > 0) {
      at = Math.min(unit - carried, piece.length);
      carry.set(piece.subarray(0, at), carried);
      carried += at;
      if (carried < unit) continue;
      yield { bytes: carry, last: false };
    }
    for (let whole = wholeUnits(piece, at, unit); whole > at; whole = wholeUnits(piece, at, unit)) {
      yield { bytes: piece.subarray(at, whole), last: false };
      at = whole;
    }
    carried = piece.length - at;
    carry.set(piece.subarray(at));
  }
  yield { bytes: carry.subarray(0, carried), last: true };
}

/** Where the next run ends: as many whole units as are there, at most a full run. */
function wholeUnits(piece: Uint8Array, at: number, unit: number): number {
  return at + Math.min(RUN_CHUNKS, Math.floor((piece.length - at) / unit)) * unit;
}
