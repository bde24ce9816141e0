import { PieceReader, readPieces, type ByteSource } from "./byte-source.ts";
import { concatBytes } from "./bytes.ts";
import { openMessageKeys, type MessageKeys } from "./cobblestone.ts";
import { damaged } from "./errors.ts";
import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES, type CryptoPlatform, type OpenedChunks } from "./platform/platform.ts";
import { MESSAGE_PREFIX_BYTES } from "./sizes.ts";

/** Chunks per result: 256 KiB. Larger pieces are worked on in such runs, so that memory does not follow their size. */
const RUN_CHUNKS = 16;
/** With reused buffers they may be larger: fewer results to wait for, and to write. */
const REUSED_RUN_CHUNKS = 32;

/** Where in a message the chunks are. */
export interface ChunkPosition {
  /** Number of the chunk that the source begins with. */
  readonly firstChunk?: number;
  /** The source ends with whole chunks, and the message goes on behind them. */
  readonly unfinished?: boolean;
}

export interface EncryptChunksOptions extends ChunkPosition {
  /** A piece is valid until the one after the next is asked for. */
  readonly reuseBuffer?: boolean;
}

/** The chunks of a plaintext to the short final one, as stored; without salt and commitment. Holds one run at a time. */
export async function* encryptChunks(
  keys: MessageKeys,
  source: ByteSource,
  { reuseBuffer = false, ...place }: EncryptChunksOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(reuseBuffer);
  for await (const pieces of encryptRuns(keys, source, runChunks(reuseBuffer), place)) yield join(pieces);
}

/**
 * The same into `target`, which must be large enough; returns how many bytes it wrote. Leaves nothing for the garbage
 * collector.
 */
export async function encryptChunksInto(
  target: Uint8Array,
  keys: MessageKeys,
  source: ByteSource,
  place: ChunkPosition,
): Promise<number> {
  let filled = 0;
  for await (const pieces of encryptRuns(keys, source, RUN_CHUNKS, place))
    for (const piece of pieces) {
      target.set(piece, filled);
      filled += piece.length;
      release(piece);
    }
  return filled;
}

async function* encryptRuns(
  keys: MessageKeys,
  source: ByteSource,
  most: number,
  { firstChunk = 0, unfinished = false }: ChunkPosition,
): AsyncGenerator<readonly Uint8Array[], void, void> {
  let chunk = firstChunk;
  for await (const { head, bytes, last } of runsOf(source, CHUNK_BYTES, most)) {
    if (last && unfinished && bytes.length === 0) return;
    const first = head === null ? [] : await keys.encryptPieces(head, chunk, false);
    chunk += head === null ? 0 : 1;
    yield [...first, ...(await keys.encryptPieces(bytes, chunk, last && !unfinished))];
    chunk += bytes.length / CHUNK_BYTES;
  }
}

/**
 * The plaintext of chunks from the first to the short final one; `source` begins behind the commitment. Gives the
 * content in front of the first chunk that does not authenticate, and nothing of that chunk. Then it throws
 * CryptoError damaged, also when the final chunk is missing or something follows it. The final chunk is a piece of its
 * own, even when it is empty.
 */
export async function* decryptChunks(
  keys: MessageKeys,
  source: ByteSource,
  reuseBuffer = false,
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(reuseBuffer);
  let chunk = 0;
  for await (const run of runsOf(source, BLOCK_BYTES, runChunks(reuseBuffer))) {
    if (run.last && run.bytes.length < TAG_BYTES) throw damaged("chunks", "the message ends without its final chunk");
    yield* openRun(keys, run, chunk, join);
    chunk += unitsOf(run, BLOCK_BYTES);
  }
}

/** The plaintext of exactly the full chunks `firstChunk` to `endChunk`, whose stored form is `source`. */
export async function* decryptFullChunks(
  keys: MessageKeys,
  source: ByteSource,
  firstChunk: number,
  endChunk: number,
): AsyncGenerator<Uint8Array, void, void> {
  const join = joiner(false);
  let chunk = firstChunk;
  for await (const run of runsOf(source, BLOCK_BYTES, RUN_CHUNKS)) {
    if (run.last && (run.bytes.length > 0 || chunk !== endChunk)) throw damaged("chunks", "not all of the range came");
    if (run.last) return;
    const end = chunk + unitsOf(run, BLOCK_BYTES);
    if (end > endChunk) throw damaged("chunks", "more than the range came");
    yield* openRun(keys, run, chunk, join);
    chunk = end;
  }
}

/** The plaintext of a whole message. Throws CryptoError wrong_key before it gives any byte, damaged as `decryptChunks`. */
export async function* decryptMessageStream(
  platform: CryptoPlatform,
  key: Uint8Array,
  context: Uint8Array,
  source: ByteSource,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = new PieceReader(source);
  try {
    const keys = await openMessageKeys(platform, key, await reader.read(MESSAGE_PREFIX_BYTES), context);
    yield* decryptChunks(keys, reader);
  } finally {
    await reader.return();
  }
}

async function* openRun(
  keys: MessageKeys,
  { head, bytes }: Run,
  firstChunk: number,
  join: Joiner,
): AsyncGenerator<Uint8Array, void, void> {
  const first = head === null ? NONE : await keys.decryptPieces(head, firstChunk);
  const rest = first.complete ? await keys.decryptPieces(bytes, firstChunk + (head === null ? 0 : 1)) : first;
  const pieces = head === null || !first.complete ? rest.pieces : [...first.pieces, ...rest.pieces];
  if (rest.complete || pieces.length > 0) yield join(pieces);
  if (!rest.complete) throw damaged("chunks", "a chunk does not authenticate");
}

const NONE: OpenedChunks = { pieces: [], complete: true };

function runChunks(reuseBuffer: boolean): number {
  return reuseBuffer ? REUSED_RUN_CHUNKS : RUN_CHUNKS;
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
  const room = REUSED_RUN_CHUNKS * BLOCK_BYTES;
  let [current, other] = [new Uint8Array(room), new Uint8Array(room)];
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
 * Frees a copied piece's memory at once. With the garbage collector tens of MiB would wait, and the system would have
 * to map each new piece first. Runtimes without `transfer` wait.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer?.(0);
}

interface Run {
  /** A whole unit before `bytes`; two pieces of the source held a part each. */
  readonly head: Uint8Array | null;
  readonly bytes: Uint8Array;
  /** The rest of the source: less than a unit, perhaps nothing. */
  readonly last: boolean;
}

function unitsOf({ head, bytes }: Run, unit: number): number {
  return (head === null ? 0 : 1) + bytes.length / unit;
}

/**
 * Cuts a source into runs of whole units, as soon as there are some, and a last run with the rest. A run's bytes are
 * valid until the next is asked for: they are the source's own piece, or a buffer that is filled again. A unit that
 * lies in two pieces begins a run and is not one by itself: each run is given, and written, alone. `most`: units of a
 * run.
 */
async function* runsOf(source: ByteSource, unit: number, most: number): AsyncGenerator<Run, void, void> {
  const carry = new Uint8Array(unit);
  let carried = 0;
  for await (const piece of readPieces(source)) {
    let at = 0;
    let head: Uint8Array | null = null;
    if (carried > 0) {
      at = Math.min(unit - carried, piece.length);
      carry.set(piece.subarray(0, at), carried);
      carried += at;
      if (carried < unit) continue;
      head = carry;
    }
    while (head !== null || piece.length - at >= unit) {
      const end = at + Math.min(most - (head === null ? 0 : 1), Math.floor((piece.length - at) / unit)) * unit;
      yield { head, bytes: piece.subarray(at, end), last: false };
      head = null;
      at = end;
    }
    carried = piece.length - at;
    carry.set(piece.subarray(at));
  }
  yield { head: null, bytes: carry.subarray(0, carried), last: true };
}
