import { filesGroup, HEADERS } from "@coffer/contract";
import { iterate } from "../http/byte-body.ts";
import { send, type ByteAnswer } from "../http/call.ts";
import { ContractError } from "../http/errors.ts";
import type { Connection } from "../connection/options.ts";
import { readContentFacts, type ByteRange, type ContentFacts, type DownloadOptions } from "./content-headers.ts";
import { isReplaced, openVerifiedStream, replaced, type Reading } from "./verified-stream.ts";

/** The part of a file that a download carries, in bytes. */
export interface DownloadRange {
  /** First byte, from 0. */
  readonly offset: number;
  /** Number of bytes. */
  readonly length: number;
}

/** An open download. Read `stream` to its end, or cancel it. */
export interface Download {
  /** Bytes of the whole file. */
  readonly size: number;
  /** SHA-256 of the whole file as it is stored, hex. In a shared vault it is the service's word, of the encrypted bytes. */
  readonly sha256: string;
  /** The part that `stream` carries. */
  readonly range: DownloadRange;
  /** Media type, such as `text/plain`. */
  readonly contentType: string;
  /** The server's name of the file. Foreign text: never use it as a path. */
  readonly name: string | null;
  /** Entity tag of the stored bytes. null: the service gave none, or the bytes are decrypted. */
  readonly etag: string | null;
  /**
   * What `ifMatch` of `files.replace` names: in a shared vault the `tag` of the file as it was opened, else `etag`. null:
   * the service gave none.
   */
  readonly tag: string | null;
  /**
   * The bytes. For a whole file the stream fails at its end with IntegrityError if length or digest are wrong. So keep
   * the bytes apart until then. The chunks of a shared vault's file vouch for themselves. For a range the SDK checks
   * only the length. After a broken connection the stream goes on where it broke.
   */
  readonly stream: ReadableStream<Uint8Array>;
  /** All of `stream` in memory, verified. Each download is read once, in one of these ways. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** {@link bytes} as an ArrayBuffer of their length. */
  arrayBuffer(): Promise<ArrayBuffer>;
  /** {@link bytes} as a Blob with `contentType`. */
  blob(): Promise<Blob>;
  /** {@link bytes} as UTF-8; what is none becomes U+FFFD, as with `fetch`. */
  text(): Promise<string>;
  /** {@link text} parsed. @throws ContractError `invalid_request` for what is no JSON; it shows none of it. */
  json(): Promise<unknown>;
}

/** What a download says of its bytes. */
export type DownloadFacts = Omit<Download, "stream" | "bytes" | "arrayBuffer" | "blob" | "text" | "json">;

/** The facts with every way to read the bytes. */
export function makeDownload(
  facts: DownloadFacts,
  source: { readonly stream: ReadableStream<Uint8Array>; readonly bytes: () => Promise<Uint8Array<ArrayBuffer>> },
): Download {
  const { bytes } = source;
  const text = async (): Promise<string> => new TextDecoder().decode(await bytes());
  return {
    ...facts,
    get stream() {
      return source.stream;
    },
    bytes,
    arrayBuffer: async () => {
      const { buffer, byteOffset, byteLength } = await bytes();
      return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
    },
    blob: async () => new Blob([await bytes()], { type: facts.contentType }),
    text,
    json: async () => {
      try {
        return JSON.parse(await text()) as unknown;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new ContractError("request", filesGroup.content.id, ["json(): the content is no JSON"]);
      }
    },
  };
}

/** The stored bytes, whatever they are. */
export async function openDownload(
  connection: Connection,
  fileId: string,
  options: DownloadOptions = {},
  versionId?: string,
): Promise<Download> {
  return (await openStored(connection, fileId, options, versionId)).download;
}

/** A download of the stored bytes. If no version is named, it brings the service's facts about a shared vault's file. */
export interface StoredDownload {
  readonly download: Download;
  /** {@link HEADERS.file}, not parsed yet; null if there is none. */
  readonly shown: string | null;
  /**
   * Up to `count` bytes from the beginning of the stored file, of the same version. A download of another part asks
   * for them in a request of their own.
   */
  readonly readStart: (count: number) => Promise<Uint8Array>;
  /** The next bytes of `download`, or null at its end: instead of its stream. */
  readonly read: () => Promise<Uint8Array | null>;
  /**
   * For bytes that will be decrypted. A broken connection goes on in this version, also when another one has become
   * current. Each byte is authenticated then, so the announced digest does not count.
   */
  pinVersion(versionId: string): void;
}

export async function openStored(
  connection: Connection,
  fileId: string,
  options: DownloadOptions = {},
  versionId?: string,
): Promise<StoredDownload> {
  const { range } = options;
  let version = versionId;
  checkRange(range);
  const open = (from: ByteRange | undefined, etag: string | null): Promise<OpenContent> =>
    requestContent(connection, { fileId, version, from, etag }, options);
  const { answer, facts } = await open(range, null);
  const { size, start, length, sha256, etag, contentType, name } = facts;
  if (sha256 === null) {
    await answer.body.cancel();
    throw new ContractError("response", filesGroup.content.id, ["headers.repr-digest: missing"]);
  }
  const reading: Reading = {
    connection,
    options,
    facts,
    first: answer.body,
    sha256: range ? null : sha256,
    reopen: async (from) => (await open(from, etag)).answer.body,
  };
  const { stream, read, peek } = openVerifiedStream(reading);
  const download = makeDownload(
    { size, sha256, range: { offset: start, length }, contentType, name, etag, tag: etag },
    { stream, bytes: () => collect(stream, length) },
  );
  const pinVersion = (current: string): void => {
    version = current;
    reading.sha256 = null;
  };
  const readStart = async (count: number): Promise<Uint8Array> => {
    if (start === 0 && length >= Math.min(count, size)) return peek(Math.min(count, size));
    const beginning = await open({ offset: 0, length: count }, etag).catch((error: unknown) => {
      throw isReplaced(error) ? replaced() : error;
    });
    return collect(beginning.answer.body, beginning.facts.length);
  };
  return { download, shown: answer.headers.get(HEADERS.file), readStart, read, pinVersion };
}

interface OpenContent {
  readonly answer: ByteAnswer;
  readonly facts: ContentFacts;
}

interface ContentRequest {
  readonly fileId: string;
  /** undefined: the current one. */
  readonly version: string | undefined;
  readonly from: ByteRange | undefined;
  /** The only version that the caller accepts, if any. */
  /** Entity tag of the version, for `ifMatch`. null: the service gave none. */
  readonly etag: string | null;
}

async function requestContent(
  connection: Connection,
  { fileId, version, from, etag }: ContentRequest,
  { signal, retries }: DownloadOptions,
): Promise<OpenContent> {
  const { output: answer } = await send(
    connection,
    filesGroup.content,
    {
      params: { fileId },
      query: version === undefined ? {} : { versionId: version },
      headers: contentHeaders(from, etag),
    },
    { signal, retries },
  );
  try {
    return { answer, facts: readContentFacts(answer, from) };
  } catch (error) {
    await answer.body.cancel();
    throw error;
  }
}

function contentHeaders(range: ByteRange | undefined, etag: string | null): { range?: string; "if-match"?: string } {
  const last = range?.length === undefined ? "" : String(range.offset + range.length - 1);
  return {
    ...(range === undefined ? {} : { range: `bytes=${String(range.offset)}-${last}` }),
    // Going on in another version would mix two files: 412 instead (RFC 9110 §13.1.1).
    ...(etag === null ? {} : { "if-match": etag }),
  };
}

function checkRange(range: ByteRange | undefined): void {
  if (range === undefined) return;
  const { offset, length } = range;
  const lengthFits = length === undefined || (Number.isSafeInteger(length) && length > 0);
  if (!Number.isSafeInteger(offset) || offset < 0 || !lengthFits)
    throw new ContractError("request", filesGroup.content.id, ["range: expected offset >= 0 and length > 0"]);
}

/** All bytes of a stream that announced its length. */
export async function collect(stream: ReadableStream<Uint8Array>, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(length);
  let filled = 0;
  const chunks = iterate(stream);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    // The stream has refused more than the announced bytes, so they fit.
    all.set(next.value, filled);
    filled += next.value.length;
  }
  return all;
}
