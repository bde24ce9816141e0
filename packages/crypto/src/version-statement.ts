/** A member's statement about one version of a file's content (file-format §8). */
import { concatBytes } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import { damaged } from "./errors.ts";
import { FieldReader, sized, u64 } from "./fields.ts";
import { parseHeaderPrefix } from "./header.ts";
import { encodePlace, readPlace, type Place } from "./place.ts";
import { signStatement } from "./signatures.ts";
import { plaintextSize } from "./sizes.ts";
import { requireLinked, SIBLING_BYTES, readSafeNumber, readSignature } from "./statement-chain.ts";
import type { StatementSigner } from "./statement-signer.ts";

/** The fields, in the order in which they are signed. Byte arrays have exactly the length given. */
export interface VersionFields extends Place {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  /** The first 44 bytes of the file's header. */
  readonly headerPrefix: Uint8Array;
  /** 32 bytes: SHA-256 of header and envelope. */
  readonly startDigest: Uint8Array;
  /** 1 for the file's first version, and one more with each. */
  readonly sequence: bigint;
  /** 32 bytes: SHA-256 of the whole signed statement before this one; zeros for the first. */
  readonly previous: Uint8Array;
  /** 32 bytes: SHA-256 of the record in the envelope. */
  readonly keyId: Uint8Array;
  /** 32 bytes: the message's key commitment. */
  readonly commitment: Uint8Array;
  /** Bytes of the message: the stored file without header and envelope. At most 2^53 - 1. */
  readonly messageLength: number;
  /** 32 bytes: SHA-256 of the message, or zeros where it was not computed. Never of plaintext. */
  readonly digest: Uint8Array;
  /** 32 bytes: the chain address whose key signed. */
  readonly signer: Uint8Array;
  /** Milliseconds since 1970, by the signer's clock. At most 2^53 - 1. */
  readonly time: number;
}

export interface VersionStatement extends VersionFields {
  /** UUIDs in lower case, from the header. */
  readonly fileId: string;
  readonly versionId: string;
  /** 32 bytes: the digest of the entry that was signed with it; null when it was signed alone. */
  readonly sibling: Uint8Array | null;
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole signed statement. */
  readonly bytes: Uint8Array;
}

const BODY_BYTES = 308;

/** Bytes of a statement that was signed alone. */
export const VERSION_STATEMENT_BYTES = BODY_BYTES + SIGNATURE_BYTES;

/** Bytes of one that was signed together with its entry. */
export const JOINT_VERSION_STATEMENT_BYTES = BODY_BYTES + SIBLING_BYTES + SIGNATURE_BYTES;

/** RangeError for fields of other lengths than {@link VersionFields} gives, CryptoError for fields that contradict each other. */
export async function signVersionStatement(fields: VersionFields, signer: StatementSigner): Promise<VersionStatement> {
  const body = encodeVersionBody(fields);
  return parseVersionStatement(concatBytes(body, await signStatement("coffer/version/v1", body, signer)));
}

/**
 * Reads one statement. Throws CryptoError `damaged` at step `statement`, and the errors of `parseHeader`.
 * `verifyVersion` decides whether you may trust it.
 */
export function parseVersionStatement(bytes: Uint8Array): VersionStatement {
  const isJoint = bytes.length === JOINT_VERSION_STATEMENT_BYTES;
  if (!isJoint && bytes.length !== VERSION_STATEMENT_BYTES)
    throw damaged(
      "statement",
      `a version statement has ${VERSION_STATEMENT_BYTES} or ${JOINT_VERSION_STATEMENT_BYTES} bytes, not ${bytes.length}`,
    );
  const reader = new FieldReader(bytes);
  const fields: VersionFields = {
    vault: reader.read(32),
    headerPrefix: reader.read(44),
    startDigest: reader.read(32),
    sequence: reader.readU64(),
    previous: reader.read(32),
    ...readPlace(reader, "statement"),
    keyId: reader.read(32),
    commitment: reader.read(32),
    messageLength: readMessageLength(reader),
    digest: reader.read(32),
    signer: reader.read(32),
    time: readSafeNumber(reader, "statement"),
  };
  requireLinked(fields.sequence, fields.previous, "statement");
  const { fileId, versionId } = parseHeaderPrefix(fields.headerPrefix);
  return { ...fields, fileId, versionId, ...readSignature(reader, isJoint), bytes: reader.whole };
}

function readMessageLength(reader: FieldReader): number {
  const length = readSafeNumber(reader, "statement");
  try {
    plaintextSize(length);
    return length;
  } catch {
    throw damaged("statement", "the version statement names a length that no message has");
  }
}

/** The signed part of a version. RangeError for fields of other lengths. */
export function encodeVersionBody(fields: VersionFields): Uint8Array {
  return concatBytes(
    sized(fields.vault, 32, "vault"),
    sized(fields.headerPrefix, 44, "header prefix"),
    sized(fields.startDigest, 32, "start digest"),
    u64(fields.sequence),
    sized(fields.previous, 32, "previous"),
    encodePlace(fields),
    sized(fields.keyId, 32, "key id"),
    sized(fields.commitment, 32, "commitment"),
    u64(fields.messageLength),
    sized(fields.digest, 32, "digest"),
    sized(fields.signer, 32, "signer"),
    u64(fields.time),
  );
}
