/** The envelope of a file: the vault key's record, and the data key wrapped under it (file-format §7). */
import { concatBytes } from "./bytes.ts";
import { damaged } from "./errors.ts";
import { parseRecord, type VaultKeyRecord } from "./vault-key-record.ts";

/** A data key of 32 bytes as a message: salt, commitment, key, tag. */
export const WRAPPED_KEY_BYTES = 104;

export interface Envelope {
  readonly record: VaultKeyRecord;
  /** 104 bytes. */
  readonly wrapped: Uint8Array;
}

export function encodeEnvelope({ record, wrapped }: Envelope): Uint8Array {
  if (wrapped.length !== WRAPPED_KEY_BYTES) throw new RangeError(`a wrapped key has ${WRAPPED_KEY_BYTES} bytes`);
  return concatBytes(record.bytes, wrapped);
}

/** Reads all N bytes of a file's envelope. Throws CryptoError `damaged` at step `record`. */
export function parseEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length <= WRAPPED_KEY_BYTES) throw damaged("record", "the envelope is too short for a record");
  const record = parseRecord(bytes.subarray(0, -WRAPPED_KEY_BYTES));
  return { record, wrapped: Uint8Array.from(bytes.subarray(-WRAPPED_KEY_BYTES)) };
}
