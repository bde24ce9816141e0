/** Bytes in pieces of any size, as files, requests and tests give them. */
export type ByteSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | ReadableStream<Uint8Array> | Uint8Array;

/** Pieces to go through with `for await`. */
export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * The pieces of a source, one at a time: the next is asked for when the last was taken. Ends the source when its reader stops early or
 * the signal fires; throws the signal's reason.
 */
export function readPieces(source: ByteSource, signal?: AbortSignal): Pieces {
  signal?.throwIfAborted();
  if (source instanceof Uint8Array) return [source];
  const pieces = Symbol.asyncIterator in source || Symbol.iterator in source ? source : readStream(source);
  return signal === undefined ? pieces : untilAborted(pieces, signal);
}

/** For runtimes whose streams cannot be iterated (Safari). */
async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      ended = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!ended) await reader.cancel();
    reader.releaseLock();
  }
}

/** A source that never answers also ends when the signal fires. */
async function* untilAborted(pieces: Pieces, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const iterator = iteratorOf(pieces);
  let ended = false;
  try {
    for (;;) {
      const next = await orAborted(Promise.resolve(iterator.next()), signal);
      ended = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    // A failed source has ended by itself; with a hanging one, nobody could wait for its end.
    if (signal.aborted) void Promise.resolve(iterator.return?.()).catch(() => undefined);
    ended = true;
    throw error;
  } finally {
    if (!ended) await iterator.return?.();
  }
}

function iteratorOf(pieces: Pieces): AsyncIterator<Uint8Array> | Iterator<Uint8Array> {
  return Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) {
      promise.catch(() => undefined);
      abort();
      return;
    }
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** A stream that makes its next piece when its reader asks for one, and stops its source when it is cancelled. */
export function toReadableStream(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * A source read in two steps: a few bytes at its front, then the rest by iteration. Ends its source when the iteration
 * stops early.
 */
export class PieceReader implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, void, void> {
  readonly #pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #unread: Uint8Array = new Uint8Array(0);
  #ended = false;

  constructor(source: ByteSource, signal?: AbortSignal) {
    this.#pieces = iteratorOf(readPieces(source, signal));
  }

  /** The next `length` bytes; fewer only at the end of the source. */
  async read(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    for (;;) {
      const part = this.#unread.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#unread = this.#unread.subarray(part.length);
      if (filled === length) return bytes;
      const next = await this.next();
      if (next.done === true) return bytes.subarray(0, filled);
      this.#unread = next.value;
    }
  }

  async next(): Promise<IteratorResult<Uint8Array, void>> {
    const unread = this.#unread;
    if (unread.length > 0) {
      this.#unread = new Uint8Array(0);
      return { done: false, value: unread };
    }
    try {
      const next = await this.#pieces.next();
      this.#ended = next.done === true;
      return next.done === true ? { done: true, value: undefined } : next;
    } catch (error) {
      this.#ended = true;
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, void>> {
    if (!this.#ended) await this.#pieces.return?.();
    this.#ended = true;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
