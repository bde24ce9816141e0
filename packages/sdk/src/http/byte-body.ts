import { acceptBytes, isBlob, isStream, type BinaryBody, type Chunked } from "./accepted-bytes.ts";
import { ContractError, SdkError } from "./errors.ts";

/**
 * Bytes in slices of this size keep a transport's memory small. A measured upload of 2 GiB peaks at 116 MiB resident
 * with 256 KiB. With 64 KiB it peaks at 125 MiB: the many small objects cost more than they save.
 */
const SLICE_BYTES = 256 * 1024;

export interface WireBody {
  readonly body: BodyInit | null;
  /** For the `content-length` header; null if it is unknown or the runtime sets it itself. */
  readonly length: number | null;
  /** The body is a stream: `fetch` wants `duplex: "half"`. */
  readonly streamed: boolean;
}

/** What a body reports while it is on its way. */
export interface Sending {
  /** For errors: the endpoint that the bytes are for. */
  readonly endpointId: string;
  /** The runtime can send streams: see `canStreamRequests`. */
  readonly streams: boolean;
  readonly moved: (bytes: number) => void;
  /** Why the rest of the bytes is missing; the transport only sees that its stream broke. */
  readonly failed: (error: SdkError) => void;
}

/**
 * Renders bytes for `fetch`. Where request streams work (Node), they go as a stream of slices, which reports when
 * bytes move and keeps memory flat. Browsers refuse or mangle streams over HTTP/1.1, so there they go as one Blob.
 */
export function renderBytes(source: BinaryBody, sending: Sending): WireBody {
  const { streams } = sending;
  if (source instanceof Uint8Array) {
    if (!streams || source.length === 0) return { body: new Blob([copyable(source)]), length: null, streamed: false };
    return { body: sliceStream(source, sending.moved), length: source.length, streamed: true };
  }
  if (isBlob(source)) {
    if (!streams || source.size === 0) return { body: source, length: null, streamed: false };
    return { body: countingStream(slicesOf(source), sending), length: source.size, streamed: true };
  }
  if (!streams) {
    const issue = "body: this runtime sends no stream: pass a string, a Uint8Array or a Blob, or name its size";
    throw new ContractError("request", sending.endpointId, [issue]);
  }
  return { body: countingStream(source, sending), length: null, streamed: true };
}

/**
 * {@link iterate} for the caller's body. Chunks that are no bytes are a ContractError of this endpoint. So is a stream
 * that was read already, because it would look like an empty one.
 */
export function openChunks(source: Chunked, endpointId: string): AsyncIterator<Uint8Array> {
  if (isConsumed(source))
    throw new ContractError("request", endpointId, ["body: the stream was read already, or something else reads it"]);
  const chunks = iterate(source);
  return {
    next: async () => {
      const next = await chunks.next();
      if (next.done === true || (next.value as unknown) instanceof Uint8Array) return next;
      if (ArrayBuffer.isView(next.value)) return { done: false, value: acceptBytes(next.value) as Uint8Array };
      const got = typeof next.value === "string" ? "text: pass it through a TextEncoderStream" : "something else";
      throw new ContractError("request", endpointId, [`body: expected chunks of Uint8Array, got ${got}`]);
    },
    return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
  };
}

/**
 * Web streams do not show that they were read, except an answer that is made of them (Fetch §5.2, "extract a body").
 * Streams of Node do.
 */
function isConsumed(source: Chunked): boolean {
  if (!isStream(source)) {
    const { destroyed, readableEnded } = source as { readonly destroyed?: unknown; readonly readableEnded?: unknown };
    return destroyed === true || readableEnded === true;
  }
  if (source.locked) return true;
  // `Response` takes streams of its own realm alone.
  if (!(source instanceof ReadableStream)) return false;
  try {
    return new Response(source).bodyUsed;
  } catch {
    return true;
  }
}

/** Reads the rest of a source of chunks, one by one, and gives it back when the reader stops early. */
export function iterate(source: Chunked): AsyncIterator<Uint8Array> {
  if (!isStream(source)) return source[Symbol.asyncIterator]();
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

async function* slicesOf(source: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  for (let offset = 0; offset < source.size; offset += SLICE_BYTES)
    yield new Uint8Array(await source.slice(offset, offset + SLICE_BYTES).arrayBuffer());
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

function countingStream(source: Chunked, { endpointId, moved, failed }: Sending): ReadableStream<Uint8Array> {
  const chunks = openChunks(source, endpointId);
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const next = await chunks.next();
          if (next.done === true) {
            controller.close();
            return;
          }
          controller.enqueue(next.value);
          moved(next.value.length);
        } catch (error) {
          if (error instanceof SdkError) failed(error);
          throw error;
        }
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A view on an ArrayBuffer, as `Blob` wants it: bytes on a shared buffer are copied. */
export function copyable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : new Uint8Array(bytes);
}
