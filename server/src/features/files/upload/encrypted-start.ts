/**
 * The beginning of an encrypted file (file-format §1). The service compares it with the signed version, so that it
 * stores no plaintext and nothing but the signed file.
 */
import { createHash, type Hash } from "node:crypto";
import { FILE_MAGIC } from "@coffer/contract";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { ServiceError } from "../../../service-error.ts";
import type { VersionStatement } from "../../shared-vaults/statements.ts";

const MAGIC = Uint8Array.from(FILE_MAGIC);
/** Version 1, suite 2 (Cobblestone-256). */
const FORMAT = Uint8Array.of(1, 2);
const FLAGS = 10;
const PADDED = 1;
const RESERVED = 11;
const PREFIX_BYTES = 44;
const HEADER_BYTES = 48;
const MAX_ENVELOPE_BYTES = 4096;

type Signed = Pick<VersionStatement, "header" | "startDigest" | "messageLength">;

/** Throws `not_encrypted`, or `statement_invalid` for a format that is not known here; `header`: the signed 44 bytes. */
export function requireEncryptedHeader(header: Uint8Array): void {
  if (!startsWith(header, MAGIC)) throw new ServiceError("not_encrypted");
  const known = startsWith(header.subarray(MAGIC.length), FORMAT);
  if (!known || (header[FLAGS] ?? 0) > PADDED || header[RESERVED] !== 0)
    throw new ServiceError("statement_invalid", "version: an unsupported file format");
}

/** Throws `statement_invalid` for a file of a size that the signed version cannot have. */
export function requireSignedSize(size: number, { messageLength }: Signed): void {
  const least = HEADER_BYTES + messageLength;
  if (size < least || size > least + MAX_ENVELOPE_BYTES) throw otherLength();
}

/**
 * Passes the bytes on, each after its comparison with the signed header. Rejects at the end unless they are the signed
 * file's beginning and as many as signed: `not_encrypted` or `statement_invalid`.
 */
export async function* holdingToVersion(source: AsyncIterable<Uint8Array>, signed: Signed): AsyncGenerator<Uint8Array> {
  const beginning = new Beginning(signed);
  let size = 0;
  for await (const chunk of source) {
    beginning.add(chunk);
    size += chunk.length;
    if (size > HEADER_BYTES + MAX_ENVELOPE_BYTES + signed.messageLength) throw otherLength();
    yield chunk;
  }
  beginning.finish(size);
}

/** The same for a part of a file that begins at `offset`; only the signed header is looked at. */
export async function* holdingToHeader(
  source: AsyncIterable<Uint8Array>,
  { header }: Signed,
  offset: number,
): AsyncGenerator<Uint8Array> {
  let at = offset;
  for await (const chunk of source) {
    requireHeaderAt(chunk, header, at);
    at += chunk.length;
    yield chunk;
  }
}

/** The same for bytes that are stored under the key already. */
export async function requireStoredVersion(
  blobs: BlobStore,
  blobKey: string,
  { size, signed }: { readonly size: number; readonly signed: Signed },
): Promise<void> {
  const stored = await blobs.open(blobKey, { offset: 0, length: Math.min(size, HEADER_BYTES + MAX_ENVELOPE_BYTES) });
  if (stored === null) throw new Error("the bytes of an upload are not in the blob store");
  const beginning = new Beginning(signed);
  for await (const chunk of stored) beginning.add(chunk);
  beginning.finish(size);
}

/** Reads header and envelope as they pass by; what follows is not looked at. */
class Beginning {
  readonly #signed: Signed;
  readonly #hash: Hash = createHash("sha256");
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #read = 0;
  /** Header and envelope; known once the header is whole. */
  #length = HEADER_BYTES;

  constructor(signed: Signed) {
    this.#signed = signed;
  }

  add(chunk: Uint8Array): void {
    requireHeaderAt(chunk, this.#signed.header, this.#read);
    let rest = chunk;
    while (rest.length > 0 && this.#read < this.#length) {
      const part = rest.subarray(0, this.#length - this.#read);
      if (this.#read < HEADER_BYTES) this.#header.set(part, this.#read);
      this.#hash.update(part);
      this.#read += part.length;
      rest = rest.subarray(part.length);
      if (this.#length === HEADER_BYTES && this.#read === HEADER_BYTES) this.#readEnvelopeLength();
    }
  }

  finish(size: number): void {
    // A file that ends within the magic begins like an encrypted one, but is not.
    if (size < MAGIC.length) throw new ServiceError("not_encrypted");
    if (this.#read < this.#length || size !== this.#length + this.#signed.messageLength) throw otherLength();
    if (this.#hash.digest("hex") !== this.#signed.startDigest)
      throw new ServiceError("statement_invalid", "version: it is about another header or envelope");
  }

  #readEnvelopeLength(): void {
    const envelope = this.#header.readUInt32BE(PREFIX_BYTES);
    if (envelope > MAX_ENVELOPE_BYTES)
      throw new ServiceError("statement_invalid", `body: an envelope has at most ${MAX_ENVELOPE_BYTES} bytes`);
    this.#length = HEADER_BYTES + envelope;
  }
}

/** Compares what of the chunk, which begins at `offset`, is in the header. */
function requireHeaderAt(chunk: Uint8Array, header: Uint8Array, offset: number): void {
  const count = Math.min(chunk.length, PREFIX_BYTES - offset);
  for (let index = 0; index < count; index += 1) {
    if (chunk[index] === header[offset + index]) continue;
    if (offset + index < MAGIC.length) throw new ServiceError("not_encrypted");
    throw new ServiceError("statement_invalid", "version: it is about another header");
  }
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}

function otherLength(): ServiceError {
  return new ServiceError("statement_invalid", "version: the bytes are more or fewer than it states");
}
