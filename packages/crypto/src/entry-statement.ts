/** A member's statement about the name and the place of a file or folder (file-format §8). */
import { concatBytes, decodeUuid, encodeUuid } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import { damaged } from "./errors.ts";
import { FieldReader, isZero, sized, u64, u8 } from "./fields.ts";
import { encodePlace, readPlace, type Place } from "./place.ts";
import { signStatement } from "./signatures.ts";
import { requireLinked, SIBLING_BYTES, readSafeNumber, readSignature } from "./statement-chain.ts";
import type { StatementSigner } from "./statement-signer.ts";

/** The fields of the statement and of the metadata's context. */
export const ENTRY_KINDS = { file: 1, folder: 2 } as const;

export type EntryKind = keyof typeof ENTRY_KINDS;

/** The fields, in the order in which they are signed. Byte arrays have exactly the length given. */
export interface EntryFields extends Place {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  readonly kind: EntryKind;
  /** UUID in lower case: the file's or folder's id. */
  readonly id: string;
  /** 1 for the first entry, and one more with each. */
  readonly revision: bigint;
  /** 32 bytes: SHA-256 of the whole signed statement before this one; zeros for the first. */
  readonly previous: Uint8Array;
  /** 32 bytes: the record whose key encrypts the metadata; zeros in a vault with plain names. */
  readonly keyId: Uint8Array;
  /** UUID in lower case: the folder it lies in; null for the root, which is written as zeros. */
  readonly folderId: string | null;
  /** 32 bytes: SHA-256 of the metadata as stored. */
  readonly metadataDigest: Uint8Array;
  /** 32 bytes: the chain address whose key signed. */
  readonly signer: Uint8Array;
  /** Milliseconds since 1970, by the signer's clock. At most 2^53 - 1. */
  readonly time: number;
}

export interface EntryStatement extends EntryFields {
  /** 32 bytes: the digest of the version that was signed with it; null when it was signed alone. */
  readonly sibling: Uint8Array | null;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole signed statement. */
  readonly bytes: Uint8Array;
}

const BODY_BYTES = 225;

/** Bytes of a statement that was signed alone. */
export const ENTRY_STATEMENT_BYTES = BODY_BYTES + SIGNATURE_BYTES;

/** Bytes of one that was signed together with its version. */
export const JOINT_ENTRY_STATEMENT_BYTES = BODY_BYTES + SIBLING_BYTES + SIGNATURE_BYTES;

/** RangeError for fields of other lengths than {@link EntryFields} gives, CryptoError for fields that contradict each other. */
export async function signEntryStatement(fields: EntryFields, signer: StatementSigner): Promise<EntryStatement> {
  const body = encodeEntryBody(fields);
  return parseEntryStatement(concatBytes(body, await signStatement("coffer/entry/v1", body, signer)));
}

/** Reads one statement. Throws CryptoError `damaged` at step `entry`. `openEntry` decides whether you may trust it. */
export function parseEntryStatement(bytes: Uint8Array): EntryStatement {
  const isJoint = bytes.length === JOINT_ENTRY_STATEMENT_BYTES;
  if (!isJoint && bytes.length !== ENTRY_STATEMENT_BYTES)
    throw damaged(
      "entry",
      `an entry statement has ${ENTRY_STATEMENT_BYTES} or ${JOINT_ENTRY_STATEMENT_BYTES} bytes, not ${bytes.length}`,
    );
  const reader = new FieldReader(bytes);
  const fields: EntryFields = {
    vault: reader.read(32),
    kind: readKind(reader),
    id: readItemId(reader),
    revision: reader.readU64(),
    previous: reader.read(32),
    ...readPlace(reader, "entry"),
    keyId: reader.read(32),
    folderId: readFolderId(reader),
    metadataDigest: reader.read(32),
    signer: reader.read(32),
    time: readSafeNumber(reader, "entry"),
  };
  requireLinked(fields.revision, fields.previous, "entry");
  if (fields.folderId === fields.id) throw damaged("entry", "the entry lies in itself");
  return { ...fields, ...readSignature(reader, isJoint), bytes: reader.whole };
}

/** The 16 bytes of a folder; zeros for the root. */
export function encodeFolderId(folderId: string | null): Uint8Array {
  return folderId === null ? new Uint8Array(16) : encodeUuid(folderId);
}

function readKind(reader: FieldReader): EntryKind {
  const kind = reader.readU8();
  if (kind === ENTRY_KINDS.file) return "file";
  if (kind === ENTRY_KINDS.folder) return "folder";
  throw damaged("entry", "the entry statement is of neither a file nor a folder");
}

/** Zeros are the root, which has no entry of its own. */
function readItemId(reader: FieldReader): string {
  const id = readFolderId(reader);
  if (id === null) throw damaged("entry", "the root has no entry");
  return id;
}

function readFolderId(reader: FieldReader): string | null {
  const bytes = reader.read(16);
  return isZero(bytes) ? null : decodeUuid(bytes);
}

/** The signed part of an entry. RangeError for fields of other lengths. */
export function encodeEntryBody(fields: EntryFields): Uint8Array {
  return concatBytes(
    sized(fields.vault, 32, "vault"),
    u8(ENTRY_KINDS[fields.kind]),
    encodeUuid(fields.id),
    u64(fields.revision),
    sized(fields.previous, 32, "previous"),
    encodePlace(fields),
    sized(fields.keyId, 32, "key id"),
    encodeFolderId(fields.folderId),
    sized(fields.metadataDigest, 32, "metadata digest"),
    sized(fields.signer, 32, "signer"),
    u64(fields.time),
  );
}
