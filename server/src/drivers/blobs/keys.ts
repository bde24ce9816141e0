import type { BlobKey } from "../../ports/blob-store.ts";

const KEY = /^[a-z0-9-]{8,64}$/;

export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** @throws RangeError on anything but a blob key: no other text ever becomes part of a path or a name. */
export function assertKey(key: BlobKey): void {
  if (!KEY.test(key)) throw new RangeError("A blob key has 8 to 64 lower-case letters, digits and dashes");
}
