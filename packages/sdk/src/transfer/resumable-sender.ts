/** Sends an upload over tus 1.0, in sequential parts, each with its checksum. */
import { filesGroup, uploadsGroup } from "@coffer/contract";
import type { Connection } from "../connection/options.ts";
import { callOn, send } from "../http/call.ts";
import { AbortError, ApiError, ContractError } from "../http/errors.ts";
import { isWorthRepeating, Repeats } from "../http/retry.ts";
import { createHasher, digestOf, toBase64, toHex, type Hasher } from "./digest.ts";
import type { Checkpoint } from "./journals.ts";
import { notResumable, otherSize } from "./source.ts";
import { endUpload, findStanding, openSession, parseStanding, TUS, type Standing } from "./tus-session.ts";
import type { EncodedBytes, EncodedUpload, SentFile } from "./upload-codec.ts";
import type { UploadOptions } from "./upload-options.ts";

export interface PartOptions extends UploadOptions {
  /** Bytes of the whole. */
  readonly size: number;
  readonly partBytes: number;
  readonly journal?: Checkpoint | null | undefined;
}

/**
 * After a failure it asks for the durable offset and goes on there. If it cannot go on, it ends the session on the
 * server, unless a journal will go on with it.
 */
export async function sendParts(
  connection: Connection,
  upload: EncodedUpload,
  options: PartOptions,
): Promise<SentFile> {
  const { journal, signal, size } = options;
  const { target } = upload;
  const session = { ...options, idempotencyKey: upload.idempotencyKey };
  const { standing, uploadId } = await openSession(connection, target, size, session, journal ?? null);
  try {
    const sender = new PartSender(connection, uploadId, upload.bytes, options, await createHasher());
    const { fileId, sha256 } = await sender.sendFrom(standing);
    if (target.kind === "version" && fileId !== target.fileId)
      throw wrongAnswer("headers.file-id: not what was asked for");
    const { file } = await callOn(connection, filesGroup.get, { params: { fileId } }, { signal });
    return { file, bytes: size, sha256 };
  } catch (error) {
    if (journal?.survives(error) !== true) await endUpload(connection, uploadId);
    throw error;
  }
}

/** A part in memory, and its digest. */
interface Part {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array;
}

/** The parts of one session. */
export class PartSender {
  readonly #connection: Connection;
  readonly #uploadId: string;
  readonly #content: EncodedBytes;
  readonly #options: PartOptions;
  readonly #hasher: Hasher;
  /** One or two buffers for all parts: memory stays at that whatever the garbage collector does. */
  #buffer: Uint8Array;
  #other: Uint8Array;

  constructor(connection: Connection, uploadId: string, content: EncodedBytes, options: PartOptions, hasher: Hasher) {
    this.#connection = connection;
    this.#uploadId = uploadId;
    this.#content = content;
    this.#options = options;
    this.#hasher = hasher;
    this.#buffer = new Uint8Array(Math.min(options.partBytes, options.size));
    this.#other = content.readsAhead === true ? this.#buffer.slice() : this.#buffer;
  }

  /** The file, and the digest of the whole: also of what the server has already. */
  async sendFrom(from: Standing): Promise<{ readonly fileId: string; readonly sha256: string }> {
    const { standing, sha256 } = await this.sendRest(from);
    const fileId = standing.fileId ?? (await this.#findStanding())?.fileId ?? null;
    if (fileId === null) throw wrongAnswer("headers.file-id: missing on a finished upload");
    return { fileId, sha256 };
  }

  /** The same of bytes that need not make a file. */
  async sendRest(from: Standing): Promise<{ readonly standing: Standing; readonly sha256: string }> {
    const { onProgress, size } = this.#options;
    for (let offset = 0; offset < from.offset;) offset += (await this.#read(offset, from.offset)).bytes.length;
    let standing = from;
    onProgress?.({ bytes: standing.offset, total: size });
    let next: Promise<Part> | null = null;
    while (standing.offset < size) {
      const part: Part = await (next ?? this.#read(standing.offset));
      const end = standing.offset + part.bytes.length;
      // While the server stores this part, the next is read. Whatever happens to this one, nothing is read afterwards.
      next = this.#content.readsAhead === true && end < size ? this.#read(end) : null;
      const settled = next?.catch(() => undefined);
      try {
        standing = await this.#send(part, standing.offset);
      } finally {
        await settled;
      }
    }
    return { standing, sha256: toHex(this.#hasher.digest()) };
  }

  async #read(offset: number, end = this.#options.size): Promise<Part> {
    const { signal, size } = this.#options;
    if (signal?.aborted === true) throw new AbortError(signal.reason);
    const bytes = this.#buffer.subarray(0, end - offset);
    [this.#buffer, this.#other] = [this.#other, this.#buffer];
    const isShort = (await this.#content.read(offset, bytes)) < bytes.length;
    if (isShort || (offset + bytes.length === size && (await this.#content.read(size, new Uint8Array(1))) > 0))
      throw otherSize(size);
    this.#hasher.update(bytes);
    return { bytes, digest: await digestOf(bytes) };
  }

  /** Sends one part, as often as needed, from wherever the server is inside it. */
  async #send(part: Part, start: number): Promise<Standing> {
    const { onProgress, size } = this.#options;
    const end = start + part.bytes.length;
    const repeats = new Repeats(this.#connection, this.#options);
    let standing: Standing = { offset: start, fileId: null };
    while (standing.offset < end) {
      try {
        const done = standing.offset - start;
        const bytes = part.bytes.subarray(done);
        const digest = done === 0 ? part.digest : await digestOf(bytes);
        standing = await this.#append({ bytes, digest }, standing.offset);
        repeats.reset();
      } catch (error) {
        await repeats.backOff(error, canGoOn(error));
        const found = await this.#findStanding();
        if (found === null) throw error;
        if (found.offset < start || found.offset > end) throw notResumable();
        if (found.offset > standing.offset) repeats.reset();
        standing = found;
        onProgress?.({ bytes: standing.offset, total: size });
      }
    }
    return standing;
  }

  async #append({ bytes, digest }: Part, offset: number): Promise<Standing> {
    const { onProgress, signal, size } = this.#options;
    const headers = { ...TUS, "upload-offset": offset, "upload-checksum": `sha256 ${toBase64(digest)}` };
    const onSent = (sent: number): void => onProgress?.({ bytes: offset + sent, total: size });
    const params = { uploadId: this.#uploadId };
    const answer = await send(
      this.#connection,
      uploadsGroup.append,
      { params, headers, body: bytes },
      { signal, onSent },
    );
    const standing = parseStanding(answer, size);
    if (standing.offset <= offset || standing.offset > offset + bytes.length)
      throw wrongAnswer("headers.upload-offset: not after the bytes that were sent");
    return standing;
  }

  #findStanding(): Promise<Standing | null> {
    return findStanding(this.#connection, this.#uploadId, this.#options.size, this.#options);
  }
}

function wrongAnswer(problem: string): ContractError {
  return new ContractError("response", uploadsGroup.append.id, [problem]);
}

/** Repeatable failures, and an offset that moved meanwhile: a request for the present offset cures both. */
function canGoOn(error: unknown): boolean {
  return isWorthRepeating(error) || (error instanceof ApiError && error.code === "offset_mismatch");
}
