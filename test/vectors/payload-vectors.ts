/** The vectors of file-format §1 to §4, as file-format/payload.json holds them for any decoder. */
import type { CryptoErrorCode, CryptoStep } from "@coffer/crypto";

/** All bytes are base64. */
export interface PayloadVectors {
  readonly about: readonly string[];
  readonly sizes: readonly { readonly content: number; readonly padded: number; readonly message: number }[];
  readonly messages: readonly MessageVector[];
  readonly files: readonly FileVector[];
  readonly failures: readonly FailureVector[];
  /** Well encrypted, by somebody who knew the key but not the format. */
  readonly malformed: readonly MalformedVector[];
}

export interface MessageVector {
  readonly name: string;
  readonly key: string;
  readonly context: string;
  readonly plaintext: string;
  readonly message: string;
}

export interface FileVector {
  readonly name: string;
  readonly dataKey: string;
  readonly fileId: string;
  readonly versionId: string;
  readonly padded: boolean;
  readonly envelope: string;
  readonly contentSize: number;
  readonly contentSha256: string;
  /** Of the message, as a version statement has it. */
  readonly digest: string;
  readonly file: string;
}

export interface MalformedVector {
  readonly name: string;
  readonly dataKey: string;
  readonly file: string;
  readonly code: CryptoErrorCode;
  readonly step: CryptoStep;
}

/** Bytes of a file of the vectors, or of this text's base64. */
export type Cutting =
  { readonly file: string; readonly from: number; readonly to: number } | { readonly bytes: string };

/** What happens to a file, in this order. Offsets are of the bytes as the edit before left them. */
export type Edit =
  | { readonly at: number; readonly xor: number }
  | { readonly at: number; readonly remove: number; readonly insert?: Cutting };

export interface FailureVector {
  readonly name: string;
  /** The file that is edited; its data key is used. */
  readonly file: string;
  readonly edits: readonly Edit[];
  readonly code: CryptoErrorCode;
  readonly step: CryptoStep;
  /** Content bytes in front of the failure: what a stream may have given by then. */
  readonly released: number;
}

/** The bytes of a failure vector. */
export function applyEdits(vectors: PayloadVectors, failure: FailureVector): Uint8Array {
  let bytes = fileBytes(vectors, failure.file);
  for (const edit of failure.edits) {
    if ("xor" in edit) bytes[edit.at] = (bytes[edit.at] ?? 0) ^ edit.xor;
    else {
      const inserted = edit.insert === undefined ? new Uint8Array(0) : cutting(vectors, edit.insert);
      bytes = Buffer.concat([bytes.subarray(0, edit.at), inserted, bytes.subarray(edit.at + edit.remove)]);
    }
  }
  return bytes;
}

export function fileBytes(vectors: PayloadVectors, name: string): Uint8Array {
  const vector = vectors.files.find((file) => file.name === name);
  if (vector === undefined) throw new Error(`no file vector "${name}"`);
  return Buffer.from(vector.file, "base64");
}

function cutting(vectors: PayloadVectors, insert: Cutting): Uint8Array {
  if ("bytes" in insert) return Buffer.from(insert.bytes, "base64");
  return fileBytes(vectors, insert.file).subarray(insert.from, insert.to);
}
