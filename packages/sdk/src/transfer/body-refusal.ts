import { ACCEPTED_BYTES } from "../http/accepted-bytes.ts";

/** Values that callers often pass instead of bytes, by name (`Symbol.toStringTag`), and what to do instead. */
const ADVICE: Readonly<Record<string, string>> = {
  Promise: "await it",
  Response: "its body was read already",
  Request: "pass its body",
  URLSearchParams: "pass String(params)",
  FormData: "pass the file in it",
  Array: "pass Uint8Array.from(numbers)",
  Object: "pass JSON.stringify(object)",
};

/** The issue for a body that is no bytes. It never holds the value. */
export function describeRefused(body: unknown): string {
  const name = Object.prototype.toString.call(body).slice("[object ".length, -1);
  const advice = ADVICE[name] === undefined ? (body === null ? "null" : typeof body) : `${name}: ${ADVICE[name]}`;
  return `body: expected ${ACCEPTED_BYTES}; got ${advice}`;
}
