/** Statements of a writer, each after the one before it (file-format §8). */
import { concatBytes } from "./bytes.ts";
import {
  encodeEntryBody,
  parseEntryStatement,
  signEntryStatement,
  type EntryFields,
  type EntryKind,
  type EntryStatement,
} from "./entry-statement.ts";
import { CryptoError } from "./errors.ts";
import { HEADER_PREFIX_BYTES } from "./header.ts";
import { placeOf, type VaultView } from "./membership.ts";
import { comparePlaces, type Place } from "./place.ts";
import { isRecordForWriting, type VaultKeyRecord } from "./vault-key-record.ts";
import { sha256, sha256Of } from "./sha256.ts";
import { signStatement } from "./signatures.ts";
import { nextNumber, NO_PREVIOUS, statementHash, type SeenStatement } from "./statement-chain.ts";
import type { Author, StatementSigner } from "./statement-signer.ts";
import { bodyDigest, requireOneAct, uploadPart } from "./upload-signature.ts";
import { requireOwnKey } from "./vault-key-sealer.ts";
import {
  encodeVersionBody,
  parseVersionStatement,
  signVersionStatement,
  type VersionFields,
  type VersionStatement,
} from "./version-statement.ts";

export interface NewVersion {
  readonly record: VaultKeyRecord;
  /** 48 bytes. */
  readonly header: Uint8Array;
  readonly envelope: Uint8Array;
  /** 32 bytes. */
  readonly commitment: Uint8Array;
  /** Bytes. */
  readonly messageLength: number;
  /** 32 bytes: SHA-256 of the message; null where it was not computed. */
  readonly digest: Uint8Array | null;
  /** The statement of the version before; null for a new file. It has been verified. */
  readonly previous: VersionStatement | null;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/**
 * Throws CryptoError `wrong_key` at step `statement` when the author's key is not the one on chain now. It throws
 * `rolled_back` for an unusable record: read again, and encrypt with a new key. Such a record is at a place that is
 * neither `view`'s nor a later one that the view has reached. Or its maker is no longer a member, or its place is
 * earlier than the statement before.
 */
export async function makeVersionStatement(
  view: VaultView,
  author: Author,
  version: NewVersion,
): Promise<VersionStatement> {
  return signVersionStatement(versionFields(view, author, version), author.signer);
}

export interface NewEntry {
  readonly kind: EntryKind;
  /** UUID in lower case. */
  readonly id: string;
  /** UUID in lower case; null for the root. */
  readonly folderId: string | null;
  /** As stored: `encryptMetadata`, or `encodeMetadata` in a vault with plain names. */
  readonly metadata: Uint8Array;
  /** The record of the key that encrypted the metadata; null in a vault with plain names. */
  readonly record: VaultKeyRecord | null;
  /** Where names are plain: a later place than the view's, if one was seen. */
  readonly place?: Place;
  /** The statement of the entry before; null for a new one. It has been verified. */
  readonly previous: EntryStatement | null;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Throws as {@link makeVersionStatement} does, at step `entry`. TypeError when the record is there and names are plain, or the other way. */
export async function makeEntryStatement(view: VaultView, author: Author, entry: NewEntry): Promise<EntryStatement> {
  return signEntryStatement(entryFields(view, author, entry), author.signer);
}

export interface UploadStatements {
  readonly version: VersionStatement;
  readonly entry: EntryStatement;
}

/** A version and its file's entry under one signature: a wallet is asked once. Throws as both of the above do. */
export async function makeUploadStatements(
  view: VaultView,
  author: Author,
  version: NewVersion,
  entry: NewEntry,
): Promise<UploadStatements> {
  return signUploadStatements(versionFields(view, author, version), entryFields(view, author, entry), author.signer);
}

/** RangeError for fields of other lengths, CryptoError for fields that contradict each other. */
export async function signUploadStatements(
  version: VersionFields,
  entry: EntryFields,
  signer: StatementSigner,
): Promise<UploadStatements> {
  const bodies = [encodeVersionBody(version), encodeEntryBody(entry)] as const;
  const digests = [bodyDigest("coffer/version/v1", bodies[0]), bodyDigest("coffer/entry/v1", bodies[1])] as const;
  const { title, body } = uploadPart(...digests);
  const signature = await signStatement(title, body, signer);
  const signed = {
    version: parseVersionStatement(concatBytes(bodies[0], digests[1], signature)),
    entry: parseEntryStatement(concatBytes(bodies[1], digests[0], signature)),
  };
  requireOneAct(signed.version, signed.entry);
  return signed;
}

/** The facts to remember of a statement that was made or verified. */
export function seenVersion({ bytes, generation, after, sequence }: VersionStatement): SeenStatement {
  return { number: sequence, generation, after, hash: statementHash(bytes) };
}

export function seenEntry({ bytes, generation, after, revision }: EntryStatement): SeenStatement {
  return { number: revision, generation, after, hash: statementHash(bytes) };
}

function requireForWriting(view: VaultView, record: VaultKeyRecord, step: "statement" | "entry"): void {
  if (!isRecordForWriting(view, record))
    throw new CryptoError("rolled_back", step, "the vault key is not of the place that the vault is at now");
}

/** Readers who have seen the statement before would refuse the one after it. */
function requireNotBefore(place: Place, previous: Place | null, step: "statement" | "entry"): void {
  if (previous !== null && comparePlaces(place, previous) < 0)
    throw new CryptoError("rolled_back", step, "the statement before it is of a later place: write at that one");
}

function versionFields(view: VaultView, author: Author, version: NewVersion): VersionFields {
  const { record, previous } = version;
  requireOwnKey(view, author, record, "statement");
  requireForWriting(view, record, "statement");
  requireNotBefore(record, previous, "statement");
  return {
    vault: view.vault,
    headerPrefix: version.header.subarray(0, HEADER_PREFIX_BYTES),
    startDigest: sha256Of(version.header, version.envelope),
    sequence: nextNumber(previous?.sequence ?? null, "statement"),
    previous: previous === null ? NO_PREVIOUS : statementHash(previous.bytes),
    generation: record.generation,
    after: record.after,
    keyId: record.keyId,
    commitment: version.commitment,
    messageLength: version.messageLength,
    digest: version.digest ?? new Uint8Array(32),
    signer: author.address,
    time: version.time,
  };
}

function entryFields(view: VaultView, author: Author, entry: NewEntry): EntryFields {
  const { kind, id, folderId, metadata, record, previous, time } = entry;
  const { generation, after } = record ?? entry.place ?? placeOf(view);
  requireOwnKey(view, author, { generation, after }, "entry");
  if ((record === null) !== view.plainNames) throw new TypeError("exactly encrypted names have a record");
  if (record !== null) requireForWriting(view, record, "entry");
  requireNotBefore({ generation, after }, previous, "entry");
  return {
    vault: view.vault,
    kind,
    id,
    revision: nextNumber(previous?.revision ?? null, "entry"),
    previous: previous === null ? NO_PREVIOUS : statementHash(previous.bytes),
    generation,
    after,
    keyId: record?.keyId ?? new Uint8Array(32),
    folderId,
    metadataDigest: sha256(metadata),
    signer: author.address,
    time,
  };
}
