/** One byte range of a content (RFC 9110 §14.1.2). */
import type { BlobRange } from "../../ports/blob-store.ts";
import { ServiceError } from "../../service-error.ts";

/**
 * The range to answer with 206, or null for the whole content with 200. The whole goes out for no Range header, a
 * malformed one or another unit (both are to be ignored, §14.2). It also goes out for several ranges, as a server may.
 * Throws `range_not_satisfiable` with Content-Range when the one range lies outside.
 */
export function parseRange(header: string | undefined, size: number): BlobRange | null {
  const match = header === undefined ? null : /^\s*bytes\s*=[\s,]*(\d*)-(\d*)[\s,]*$/i.exec(header);
  if (match === null || (match[1] === "" && match[2] === "")) return null;
  const [, first = "", last = ""] = match;
  return first === "" ? suffixRange(last, size) : openRange(first, last, size);
}

function suffixRange(length: string, size: number): BlobRange | null {
  const wanted = Number(length);
  if (wanted === 0) throw outside(size);
  // A satisfiable suffix of an empty content has no possible Content-Range, so the whole goes out.
  if (size === 0) return null;
  const kept = Math.min(wanted, size);
  return { offset: size - kept, length: kept };
}

function openRange(first: string, last: string, size: number): BlobRange | null {
  const from = Number(first);
  const to = last === "" ? Number.POSITIVE_INFINITY : Number(last);
  if (to < from) return null;
  if (from >= size) throw outside(size);
  return { offset: from, length: Math.min(to, size - 1) - from + 1 };
}

function outside(size: number): ServiceError {
  return new ServiceError("range_not_satisfiable", undefined, { headers: { "Content-Range": `bytes */${size}` } });
}
