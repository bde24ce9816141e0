import { sha256FromBase64 } from "./digest.ts";
import { ContractError } from "../http/errors.ts";
import type { Progress } from "./upload-options.ts";

/** A part of a file. */
export interface ByteRange {
  /** First byte, from 0. */
  readonly offset: number;
  /** Number of bytes. Default: to the end. */
  readonly length?: number | undefined;
}

/** The facts in the headers of a content answer. */
export interface ContentFacts {
  /** Bytes of the whole file. */
  readonly size: number;
  /** First byte and count of the bytes in this answer. */
  readonly start: number;
  readonly length: number;
  /** SHA-256 of the whole file, hex; null when the server gave none. */
  readonly sha256: string | null;
  readonly etag: string | null;
  readonly contentType: string;
  /** From Content-Disposition. Foreign text: never use it as a path. */
  readonly name: string | null;
}

/** Throws ContractError when the answer is not the one that `range` asks for. */
export function readContentFacts(
  answer: { readonly status: number; readonly headers: Headers },
  range: ByteRange | undefined,
): ContentFacts {
  const { headers } = answer;
  const span = answer.status === 206 ? parseContentRange(headers) : parseWhole(headers);
  const wanted = range?.offset ?? 0;
  const last = range?.length === undefined ? span.size : Math.min(span.size, wanted + range.length);
  if ((range !== undefined) !== (answer.status === 206) || span.start !== wanted || span.start + span.length !== last)
    throw broken("content-range: not the range that was asked for");
  return {
    ...span,
    sha256: parseDigest(headers),
    etag: headers.get("etag"),
    contentType: headers.get("content-type") ?? "application/octet-stream",
    name: parseName(headers.get("content-disposition")),
  };
}

type Span = Pick<ContentFacts, "size" | "start" | "length">;

/** RFC 9110 §14.4: `bytes first-last/size`. */
function parseContentRange(headers: Headers): Span {
  const match = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16})$/.exec(headers.get("content-range") ?? "");
  if (match === null) throw broken("content-range: not understood");
  const [start, last, size] = [Number(match[1]), Number(match[2]), Number(match[3])];
  if (last < start || last >= size) throw broken("content-range: not inside the file");
  return { start, length: last - start + 1, size };
}

function parseWhole(headers: Headers): Span {
  const text = headers.get("content-length") ?? "";
  if (!/^\d{1,16}$/.test(text)) throw broken("content-length: missing");
  return { start: 0, length: Number(text), size: Number(text) };
}

/** RFC 9530 `Repr-Digest`, else the service's entity tag `"sha256-<base64url>"`; both cover the whole file. */
function parseDigest(headers: Headers): string | null {
  const digest = /(?:^|,)\s*sha-256=:([^:]+):/.exec(headers.get("repr-digest") ?? "")?.[1];
  const tag = /^"sha256-([\w-]{43})"$/.exec(headers.get("etag") ?? "")?.[1];
  const text = digest ?? tag;
  return text === undefined ? null : sha256FromBase64(text);
}

/** RFC 6266: the extended form wins. */
function parseName(disposition: string | null): string | null {
  if (disposition === null) return null;
  const extended = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decodePercent(extended);
  const plain = /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1];
  return plain === undefined ? null : plain.replace(/\\(.)/g, "$1");
}

function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // Malformed: the name is a convenience, the bytes do not depend on it.
  }
}

function broken(issue: string): ContractError {
  return new ContractError("response", "files.content", [`headers.${issue}`]);
}

/** For a download. */
export interface DownloadOptions {
  /** The part to read. Default: the whole file. */
  readonly range?: ByteRange | undefined;
  /** The vault that the file must lie in. The SDK does not believe the service if it shows the file in another one. Default: the vault
   * that the service names, or in which this machine has seen the file. */
  readonly vaultId?: string | undefined;
  /** Ends the download when it aborts. Default: only the stall limit ends it. */
  readonly signal?: AbortSignal | undefined;
  /** A version that was replaced and is kept. In a shared vault those after it are verified first. Default: the current one. */
  readonly versionId?: string | undefined;
  /** Gives you the stored bytes as they are, also of a shared vault's file, which are encrypted: for copies, not for reading. Default: false. */
  readonly ciphertext?: boolean | undefined;
  /** Called as bytes move. Default: no function. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Repeats of a request that moved nothing. Default: `retry.limit` of the client, which is 4. */
  readonly retries?: number | undefined;
}
