import { concatBytes, decodeU32, decodeUuid, encodeU32, encodeUuid, equalBytes } from "./bytes.ts";
import { CryptoError, damaged } from "./errors.ts";
import { titleBytes } from "./fields.ts";

/** file-format §1. */
export const HEADER_BYTES = 48;
/** The header without the envelope's length: the part in keys' contexts and signatures. */
export const HEADER_PREFIX_BYTES = 44;
export const MAX_ENVELOPE_BYTES = 4096;

const MAGIC = Uint8Array.of(0x93, 0x43, 0x46, 0x52, 0x0d, 0x0a, 0x1a, 0x0a);
const VERSION = 1;
const COBBLESTONE_256 = 2;
const PADDED = 1;

/** The fields of a file's first 48 bytes that vary. */
export interface FileHeader {
  /** UUIDs in lower case, chosen by the client that wrote the file. */
  readonly fileId: string;
  readonly versionId: string;
  readonly padded: boolean;
  /** 0 to 4096. */
  readonly envelopeLength: number;
}

/** The header's first 44 bytes. Throws TypeError for an id that is not a UUID in lower case. */
export function encodeHeaderPrefix({ fileId, padded, versionId }: Omit<FileHeader, "envelopeLength">): Uint8Array {
  const fixed = Uint8Array.of(VERSION, COBBLESTONE_256, padded ? PADDED : 0, 0);
  return concatBytes(MAGIC, fixed, encodeUuid(fileId), encodeUuid(versionId));
}

/** All 48 bytes. Throws RangeError for an envelope of more than 4096 bytes. */
export function encodeHeader(header: FileHeader): Uint8Array {
  const { envelopeLength } = header;
  if (!Number.isSafeInteger(envelopeLength) || envelopeLength < 0 || envelopeLength > MAX_ENVELOPE_BYTES)
    throw new RangeError("an envelope has at most 4096 bytes");
  return concatBytes(encodeHeaderPrefix(header), encodeU32(envelopeLength));
}

/**
 * Reads the first 48 bytes of `bytes`. Throws CryptoError at step `header`: not_encrypted, unsupported_version, unsupported_suite,
 * damaged.
 */
export function parseHeader(bytes: Uint8Array): FileHeader {
  const prefix = parseHeaderPrefix(bytes);
  if (bytes.length < HEADER_BYTES) throw damaged("header", "the file ends within its header");
  const envelopeLength = decodeU32(bytes, HEADER_PREFIX_BYTES);
  if (envelopeLength > MAX_ENVELOPE_BYTES) throw damaged("header", "the envelope is longer than 4096 bytes");
  return { ...prefix, envelopeLength };
}

/** The same of the first 44 bytes alone. */
export function parseHeaderPrefix(bytes: Uint8Array): Omit<FileHeader, "envelopeLength"> {
  const magic = bytes.subarray(0, MAGIC.length);
  if (magic.length === 0 || !equalBytes(magic, MAGIC.subarray(0, magic.length)))
    throw new CryptoError("not_encrypted", "header", "these are not the bytes of an encrypted file");
  if (bytes.length < HEADER_PREFIX_BYTES) throw damaged("header", "the file ends within its header");
  const [version, suite, flags = 0, reserved] = bytes.subarray(MAGIC.length, MAGIC.length + 4);
  if (version !== VERSION)
    throw new CryptoError("unsupported_version", "header", `format version ${String(version)} is not known here`);
  if (suite !== COBBLESTONE_256)
    throw new CryptoError("unsupported_suite", "header", `cipher suite ${String(suite)} is not known here`);
  if (flags > PADDED || reserved !== 0) throw damaged("header", "the header has bits set that must be zero");
  return {
    fileId: decodeUuid(bytes.subarray(12, 28)),
    versionId: decodeUuid(bytes.subarray(28, 44)),
    padded: flags === PADDED,
  };
}

/** The context of a file's message (file-format §2): `"coffer/file/v1" || 00 || header[0..44)`. */
export function fileContext(headerPrefix: Uint8Array): Uint8Array {
  if (headerPrefix.length !== HEADER_PREFIX_BYTES) throw new TypeError("a header's prefix has 44 bytes");
  return concatBytes(titleBytes("coffer/file/v1"), headerPrefix);
}
