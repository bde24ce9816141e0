import { ACCEPTED_BYTES } from "../accepted-bytes.ts";

const VIEW = "a view on memory: pass new Uint8Array(view.buffer, view.byteOffset, view.byteLength)";

/** Values that callers often pass instead of bytes, by name (`Symbol.toStringTag`), and what to pass instead. */
const ADVICE: Readonly<Record<string, string>> = {
  Promise: "a promise: await it",
  ArrayBuffer: "an ArrayBuffer: pass new Uint8Array(buffer)",
  SharedArrayBuffer: "shared memory: pass new Uint8Array(buffer)",
  Response: "a Response: pass its body",
  Request: "a Request: pass its body",
  URLSearchParams: "URLSearchParams: pass its text, String(params)",
  FormData: "a form: pass the file in it",
  Array: "an array: pass Uint8Array.from(numbers)",
  Object: "an object: pass JSON.stringify(object)",
};

/** The issue for a body that is no bytes. It never holds the value. */
export function describeRefused(body: unknown): string {
  const name = Object.prototype.toString.call(body).slice("[object ".length, -1);
  const advice = ArrayBuffer.isView(body) ? VIEW : ADVICE[name];
  return `body: expected ${ACCEPTED_BYTES}; got ${advice ?? (body === null ? "null" : typeof body)}`;
}
