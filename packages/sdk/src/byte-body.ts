import { nodeVersion } from "./runtime.ts";

/** What the SDK accepts where the contract says bytes. */
export type ByteBody = Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Bytes in slices of this size keep a transport's memory small. Measured, an upload of 2 GiB peaks at 116 MiB resident
 * with 256 KiB and at 125 MiB with 64 KiB, whose many small objects cost more than they save.
 */
const SLICE_BYTES = 256 * 1024;

export interface WireBody {
  readonly body: BodyInit | null;
  /** For the `content-length` header; null when it is not known or the runtime sets it itself. */
  readonly length: number | null;
  /** The body is a stream: `fetch` wants `duplex: "half"`. */
  readonly streamed: boolean;
}

/**
 * Renders bytes for `fetch`. Where request streams work (Node), they go as a stream of slices, which tells when
 * bytes move and keeps memory flat; in browsers, which refuse or mangle streams over HTTP/1.1, as one Blob.
 */
export function renderBytes(source: ByteBody, moved: (bytes: number) => void): WireBody {
  const streams = canStreamRequests();
  if (source instanceof Uint8Array) {
    if (!streams || source.length === 0) return { body: new Blob([copyable(source)]), length: null, streamed: false };
    return { body: sliceStream(source, moved), length: source.length, streamed: true };
  }
  if (source instanceof Blob) {
    if (!streams || source.size === 0) return { body: source, length: null, streamed: false };
    return { body: countingStream(source.stream(), moved), length: source.size, streamed: true };
  }
  if (!streams)
    throw new TypeError("This runtime cannot send a stream: pass a Uint8Array or a Blob, or upload with a known size");
  return { body: countingStream(source, moved), length: null, streamed: true };
}

/** Whether request bodies may be streams: Node, Bun and Deno; not browsers. */
export function canStreamRequests(): boolean {
  return nodeVersion() !== null;
}

/** Reads what is left of a source of chunks, one by one, and gives it back when the reader stops early. */
export function iterate(source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  if (!(source instanceof ReadableStream)) return source[Symbol.asyncIterator]();
  const reader = source.getReader();
  return {
    next: async () => {
      const result = await reader.read();
      return result.done ? { done: true, value: undefined } : { done: false, value: result.value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

function sliceStream(source: Uint8Array, moved: (bytes: number) => void): ReadableStream<Uint8Array> {
  let offset = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const slice = source.subarray(offset, offset + SLICE_BYTES);
        offset += slice.length;
        controller.enqueue(slice);
        moved(slice.length);
        if (offset >= source.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

function countingStream(
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  moved: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  const chunks = iterate(source);
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done === true) {
          controller.close();
          return;
        }
        controller.enqueue(next.value);
        moved(next.value.length);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A view on an ArrayBuffer, as `Blob` wants it: bytes on a shared buffer are copied. */
function copyable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : new Uint8Array(bytes);
}
