/**
 * What the SDK accepts where the contract says bytes. A string means its UTF-8, in which half a surrogate pair becomes
 * U+FFFD, as with `fetch`. A `Buffer` is a Uint8Array, a `File` is a Blob, and a stream of Node is an AsyncIterable. Of
 * a `Response` the body is sent, whatever its status. The SDK refuses a stream or a Response that was read from.
 */
export type ByteBody = string | ArrayBuffer | ArrayBufferView | Response | BinaryBody;

/** Bytes in the form that goes out. */
export type BinaryBody = Uint8Array | Blob | Chunked;

/** Bytes that arrive one chunk after the other, once. */
export type Chunked = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The accepted forms of bytes, in words. */
export const ACCEPTED_BYTES =
  "a string, Uint8Array, ArrayBuffer or a view of one, Blob, Response, ReadableStream or AsyncIterable of Uint8Array";

/**
 * The caller's bytes, a string as its UTF-8; null: it is nothing of the kind. Objects are recognised by what they can
 * do and not by their class: those of an iframe or of jsdom have classes of their own.
 */
export function acceptBytes(value: unknown): BinaryBody | null {
  if (typeof value === "string") return ownBytes(new TextEncoder().encode(value));
  if (ArrayBuffer.isView(value)) return ownBytes(value);
  const kind = Object.prototype.toString.call(value);
  if (kind === "[object ArrayBuffer]" || kind === "[object SharedArrayBuffer]")
    return new Uint8Array(value as ArrayBuffer);
  if (typeof value !== "object" || value === null) return null;
  if (isResponse(value)) return value.bodyUsed ? null : (value.body ?? new Uint8Array(0));
  return isBlob(value) || isStream(value) || Symbol.asyncIterator in value ? (value as BinaryBody) : null;
}

/** The view as a Uint8Array of this realm: test environments with jsdom have the `TextEncoder` of another one. */
function ownBytes(view: ArrayBufferView): Uint8Array {
  return view instanceof Uint8Array ? view : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/** The media type that bytes bring along: that of a Blob, a File or a Response. undefined: none, or none that is one. */
export function typeOfBytes(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const type = isResponse(value) ? value.headers.get("content-type") : isBlob(value) ? value.type : null;
  return type !== null && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;|$)/.test(type) ? type : undefined;
}

/** That of jsdom has no `stream`. */
export function isBlob(value: object): value is Blob {
  return "slice" in value && "arrayBuffer" in value && "size" in value;
}

export function isStream(value: object): value is ReadableStream<Uint8Array> {
  return "getReader" in value && "cancel" in value;
}

function isResponse(value: object): value is Response {
  return "bodyUsed" in value && "status" in value && "headers" in value;
}
