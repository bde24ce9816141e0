/** What the driver's objects are called. */
import type { BlobKey } from "../../../ports/blob-store.ts";
import { isKey } from "../keys.ts";

export interface Names {
  readonly blobs: string;
  readonly tails: string;
  readonly trials: string;
  /** The mark of the store itself. */
  readonly mark: string;
  blob(key: BlobKey): string;
  /** The end of a partial's bytes, under a number of its own. */
  tail(key: BlobKey, number: number): string;
  tailsOf(key: BlobKey): string;
  keyOfBlob(name: string): BlobKey | null;
  tailOf(name: string): { readonly key: BlobKey; readonly number: number } | null;
}

export function namesIn(prefix: string): Names {
  const [blobs, tails, trials] = [`${prefix}blobs/`, `${prefix}tails/`, `${prefix}trials/`];
  return {
    blobs,
    tails,
    trials,
    mark: `${prefix}store-mark`,
    blob: (key) => blobs + key,
    tail: (key, number) => `${tails}${key}.${String(number)}`,
    tailsOf: (key) => `${tails}${key}.`,
    keyOfBlob: (name) => (isKey(name.slice(blobs.length)) ? name.slice(blobs.length) : null),
    tailOf(name) {
      const [key = "", number = "", ...more] = name.slice(tails.length).split(".");
      return isKey(key) && /^\d{1,9}$/.test(number) && more.length === 0 ? { key, number: Number(number) } : null;
    },
  };
}
