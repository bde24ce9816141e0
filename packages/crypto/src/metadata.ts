/** The name, content type and true size of a file, or the name of a folder (file-format §9). */
import { concatBytes, encodeText, latin1 } from "./bytes.ts";
import { damaged } from "./errors.ts";
import { FieldReader, u16, u64, u8 } from "./fields.ts";
import type { EntryKind } from "./entry-statement.ts";
import { nameProblem } from "./item-name.ts";

export interface Metadata {
  /** At most 255 bytes of UTF-8, and a name that a file or folder can have. A caller puts a new one into NFC. */
  readonly name: string;
  /** 1 to 245 bytes of visible ASCII and spaces for a file; empty for a folder. */
  readonly contentType: string;
  /** Bytes of content, before encryption and padding, at most 2^53 - 1; 0 for a folder. */
  readonly size: number;
}

/** So that every name fits 512 bytes together with every content type. */
export const MAX_CONTENT_TYPE_BYTES = 245;

/** The padded sizes of metadata: they show a name's length as one of four. */
export const METADATA_SIZES = [64, 128, 256, 512] as const;

const ENCODING = 1;
const CONTENT_TYPE = /^[\x20-\x7e]*$/;

/**
 * Version 01 ‖ u16 length ‖ name ‖ u8 length ‖ content type ‖ u64 size: one encoding per value. The name stays as it is:
 * what was read is written again byte for byte, also where another runtime's Unicode put it into NFC.
 * @throws RangeError for metadata that is impossible for its kind.
 */
export function encodeMetadata(kind: EntryKind, metadata: Metadata): Uint8Array {
  const problem = metadataProblem(kind, metadata);
  if (problem !== null) throw new RangeError(problem);
  const [nameBytes, typeBytes] = [encodeText(metadata.name), encodeText(metadata.contentType)];
  return concatBytes(
    u8(ENCODING),
    u16(nameBytes.length),
    nameBytes,
    u8(typeBytes.length),
    typeBytes,
    u64(metadata.size),
  );
}

/** The encoding with zeros up to the smallest of 64, 128, 256 and 512 bytes that holds it. */
export function encodePaddedMetadata(kind: EntryKind, metadata: Metadata): Uint8Array {
  const encoded = encodeMetadata(kind, metadata);
  return concatBytes(encoded, new Uint8Array(paddedLength(encoded.length) - encoded.length));
}

/** Reads exactly one encoding and nothing after it. Throws CryptoError `damaged` at step `metadata`. */
export function parseMetadata(kind: EntryKind, bytes: Uint8Array): Metadata {
  const { metadata, rest } = readMetadata(kind, bytes);
  if (rest.length > 0) throw damaged("metadata", "something follows the metadata");
  return metadata;
}

/** The same for the padded form: only zeros follow, and exactly as many as the rule gives. */
export function parsePaddedMetadata(kind: EntryKind, bytes: Uint8Array): Metadata {
  const { metadata, rest } = readMetadata(kind, bytes);
  if (bytes.length !== paddedLength(bytes.length - rest.length) || rest.some((byte) => byte !== 0))
    throw damaged("metadata", "the metadata's padding is not the one that belongs to its length");
  return metadata;
}

function paddedLength(length: number): number {
  const size = METADATA_SIZES.find((candidate) => candidate >= length);
  if (size === undefined) throw new RangeError("metadata has at most 512 bytes");
  return size;
}

function readMetadata(kind: EntryKind, bytes: Uint8Array): { metadata: Metadata; rest: Uint8Array } {
  if (bytes.length > METADATA_SIZES[3]) throw damaged("metadata", "metadata has at most 512 bytes");
  const reader = new FieldReader(bytes);
  try {
    if (reader.readU8() !== ENCODING)
      throw damaged("metadata", "the metadata is not in an encoding that is known here");
    const name = decodeName(reader.read(reader.readU16()));
    const contentType = latin1(reader.read(reader.readU8()));
    const size = reader.readU64();
    const metadata = { name, contentType, size: size > BigInt(Number.MAX_SAFE_INTEGER) ? Number.NaN : Number(size) };
    const problem = metadataProblem(kind, metadata);
    if (problem !== null) throw damaged("metadata", problem);
    return { metadata, rest: reader.read(reader.remaining) };
  } catch (error) {
    if (error instanceof RangeError) throw damaged("metadata", "the metadata ends early");
    throw error;
  }
}

/** Without ignoreBOM a leading U+FEFF would vanish, and two encodings would be one name. */
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeName(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw damaged("metadata", "the name is not UTF-8");
  }
}

/**
 * Never quotes the metadata: messages end up in logs. It asks for no NFC, which depends on the Unicode of each runtime.
 * A name must not be readable in one runtime and damaged in the next.
 */
function metadataProblem(kind: EntryKind, { name, contentType, size }: Metadata): string | null {
  const problem = nameProblem(name);
  if (problem !== null) return `the name ${problem}`;
  if (contentType.length > MAX_CONTENT_TYPE_BYTES)
    return `the content type has more than ${MAX_CONTENT_TYPE_BYTES} bytes`;
  if (!CONTENT_TYPE.test(contentType)) return "the content type is not ASCII";
  if (!Number.isSafeInteger(size) || size < 0) return "the size is not a whole number up to 2^53 - 1";
  if (kind === "folder" ? contentType !== "" || size !== 0 : contentType === "")
    return "a file has a content type; a folder has neither content type nor size";
  return null;
}
