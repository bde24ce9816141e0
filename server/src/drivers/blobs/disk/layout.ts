/** Where a blob lies below the store's directory. */
import { hash } from "node:crypto";
import { join } from "node:path";
import type { BlobKey } from "../../../ports/blob-store.ts";
import { isKey } from "../keys.ts";

export interface Layout {
  /** Every directory, parents first. */
  readonly directories: readonly string[];
  readonly blobs: readonly string[];
  readonly temporaries: string;
  readonly partials: string;
  /** Where the store's mark is, under a name that {@link numberOfMark} reads. */
  readonly root: string;
  /** A complete blob. */
  blob(key: BlobKey): string;
  /** The directory of a complete blob. */
  blobDirectory(key: BlobKey): string;
  /** What `put` is writing. */
  temporary(key: BlobKey): string;
  partial(key: BlobKey): string;
  /** The durable length of a partial, beside it. */
  partialLength(key: BlobKey): string;
  mark(number: number): string;
}

const LENGTH_SUFFIX = ".length";
const MARK_PREFIX = "store-mark.";

/** null: the file is no mark. */
export function numberOfMark(name: string): number | null {
  const number = name.startsWith(MARK_PREFIX) ? name.slice(MARK_PREFIX.length) : "";
  return /^\d{1,15}$/.test(number) ? Number(number) : null;
}

/** The key a file in the temporary or partial area belongs to, null for a stranger. */
export function keyOfFile(name: string): BlobKey | null {
  const key = name.endsWith(LENGTH_SUFFIX) ? name.slice(0, -LENGTH_SUFFIX.length) : name;
  return isKey(key) ? key : null;
}

export function layoutOf(root: string): Layout {
  const area = (name: string) => join(root, name);
  const blobs = Array.from({ length: 256 }, (_, index) => join(root, "blobs", index.toString(16).padStart(2, "0")));
  // A hash spreads evenly whatever the keys look like (a common prefix, a time in front).
  const blobDirectory = (key: BlobKey) => join(root, "blobs", hash("sha256", key, "hex").slice(0, 2));
  return {
    directories: [root, area("blobs"), ...blobs, area("temporary"), area("partial")],
    blobs,
    temporaries: area("temporary"),
    partials: area("partial"),
    root,
    blobDirectory,
    blob: (key) => join(blobDirectory(key), key),
    temporary: (key) => join(area("temporary"), key),
    partial: (key) => join(area("partial"), key),
    partialLength: (key) => join(area("partial"), key + LENGTH_SUFFIX),
    mark: (number) => area(MARK_PREFIX + String(number)),
  };
}
