/**
 * Whether it is an error, of whatever realm. Test runners such as Jest give each test file a realm of its own, and what `fetch` and Node's
 * modules throw there is no `Error` of that realm.
 */
export function isError(value: unknown): value is Error {
  return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}
