import { copyBytes } from "./bytes.ts";
import { damaged } from "./errors.ts";
import { COMMITMENT_BYTES, SALT_BYTES } from "./cobblestone.ts";
import { HEADER_BYTES, HEADER_PREFIX_BYTES, MAX_ENVELOPE_BYTES, parseHeader, type FileHeader } from "./header.ts";
import { MESSAGE_PREFIX_BYTES } from "./sizes.ts";

/** Whatever a file's header, its start is within so many bytes. */
export const MAX_FILE_START_BYTES = HEADER_BYTES + MAX_ENVELOPE_BYTES + MESSAGE_PREFIX_BYTES;

/** The part before the chunks of a file. Only its form is verified yet. */
export interface FileStart {
  readonly header: FileHeader;
  /** The 48 bytes as they are in the file. */
  readonly headerBytes: Uint8Array;
  /** Header and envelope as they are in the file. */
  readonly beforeMessage: Uint8Array;
  /** The header's first 44 bytes: the part in keys' contexts and signatures. */
  readonly headerPrefix: Uint8Array;
  readonly envelope: Uint8Array;
  /** Where the message begins: 48 + envelope. */
  readonly payloadOffset: number;
  readonly salt: Uint8Array;
  readonly commitment: Uint8Array;
  /** Both, as they are in the file. */
  readonly messagePrefix: Uint8Array;
}

/**
 * Reads header, envelope, salt and commitment, and ignores bytes after them. Throws the errors of `parseHeader`, and
 * CryptoError damaged at step `length` when the bytes end too soon.
 */
export function parseFileStart(bytes: Uint8Array): FileStart {
  const header = parseHeader(bytes);
  const payloadOffset = HEADER_BYTES + header.envelopeLength;
  if (bytes.length < payloadOffset + MESSAGE_PREFIX_BYTES) throw damaged("length", "the file ends before its chunks");
  const commitmentOffset = payloadOffset + SALT_BYTES;
  // One copy, in which all fields lie.
  const start = copyBytes(bytes, 0, payloadOffset + MESSAGE_PREFIX_BYTES);
  return {
    header,
    headerBytes: start.subarray(0, HEADER_BYTES),
    beforeMessage: start.subarray(0, payloadOffset),
    headerPrefix: start.subarray(0, HEADER_PREFIX_BYTES),
    envelope: start.subarray(HEADER_BYTES, payloadOffset),
    payloadOffset,
    salt: start.subarray(payloadOffset, commitmentOffset),
    commitment: start.subarray(commitmentOffset, commitmentOffset + COMMITMENT_BYTES),
    messagePrefix: start.subarray(payloadOffset),
  };
}
