/** The reading order (file-format §10): the checks before a byte of content or a name is believed; a failure names its step. */
import { equalBytes } from "./bytes.ts";
import { parseEntryStatement, type EntryKind, type EntryStatement } from "./entry-statement.ts";
import { decryptMetadata } from "./entry-metadata.ts";
import { parseEnvelope, type Envelope } from "./envelope.ts";
import { CryptoError, damaged, type CryptoStep } from "./errors.ts";
import { isZero } from "./fields.ts";
import type { FileStart } from "./file-start.ts";
import { findSigner, type VaultView } from "./membership.ts";
import { parseMetadata, type Metadata } from "./metadata.ts";
import { comparePlaces, type Place } from "./place.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import { parseRecord, verifyRecord, type VaultKeyRecord } from "./vault-key-record.ts";
import type { DataKey } from "./secret-key.ts";
import { verifyStatement } from "./signatures.ts";
import { requireNotOlder, type SeenStatement } from "./statement-chain.ts";
import { entryPart, requireSiblings, versionPart, type SignedPart } from "./upload-signature.ts";
import type { VaultKey } from "./vault-key.ts";
import { parseVersionStatement, type VersionStatement } from "./version-statement.ts";
import { requireKeyOf, unwrapDataKey } from "./data-key-wrap.ts";

/** The reader's own facts, not from the service. */
export interface TrustedVault {
  /** 32 bytes: the vault object's id that was pinned. */
  readonly vault: Uint8Array;
  /** Read from the chain. Read it again first when a statement's place is later: an old view has no members there. */
  readonly view: VaultView;
}

/**
 * The vault key of a verified record: from memory, or opened now. It may open another record with the same `check`
 * that was made for other key servers. The answer must match the record's `check`. Rejects as the key wrap does.
 */
export type FindVaultKey = (record: VaultKeyRecord) => Promise<VaultKey> | VaultKey;

export interface VersionQuestion extends TrustedVault {
  /** UUID in lower case. */
  readonly fileId: string;
  /** UUID in lower case; null asks for whichever version is current. */
  readonly versionId: string | null;
  /** The newest version statement seen of this file; null at first sight, and when an older version is asked for by its id. */
  readonly seen: SeenStatement | null;
  /** The entry that the service shows with it, verified. If both say that they were signed together, they must name each other. */
  readonly entry?: EntryStatement;
}

/** The service's answer. */
export interface VersionAnswer {
  /** The signed statement, as bytes or as they were read. */
  readonly statement: Uint8Array | VersionStatement;
  readonly start: FileStart;
  /** Bytes of the whole stored file; null when only its end shows that: the reader of the chunks then counts them. */
  readonly fileSize: number | null;
}

/** Everything before the chunks is true: `decryptFile` and `openRangeReader` need this to unlock the file. */
export interface VerifiedVersion {
  readonly statement: VersionStatement;
  readonly record: VaultKeyRecord;
  /** The caller disposes it, or hands it to a reader, which does. */
  readonly dataKey: DataKey;
  /** The statement's. */
  readonly messageLength: number;
  /** The statement's; null for zeros, when nobody computed it. */
  readonly digest: Uint8Array | null;
}

/**
 * Goes through the reading order up to the chunks, and opens the data key. Throws CryptoError; its step is one of
 * pins, statement, ids, start, record, wrap, commitment, length. Rejects as `findVaultKey` does, which gets only a
 * record that is in order, and with KeyDisposedError.
 */
export async function verifyVersion(
  platform: CryptoPlatform,
  question: VersionQuestion,
  answer: VersionAnswer,
  findVaultKey: FindVaultKey,
): Promise<VerifiedVersion> {
  const statement = await verifyVersionStatement(question, answer.statement);
  if (question.entry !== undefined) requireSiblings(statement, question.entry);
  const { beforeMessage, headerPrefix, envelope, commitment, payloadOffset } = answer.start;
  requireIds(question, statement, answer.start);
  if (!equalBytes(platform.sha256(beforeMessage), statement.startDigest))
    throw damaged("start", "header and envelope are not those of the version statement");
  const { record, wrapped } = await verifyEnvelope(question.view, statement, envelope);
  const vaultKey = await findVaultKey(record);
  const place = { commitment: statement.commitment, headerPrefix };
  const dataKey = await unwrapDataKey(platform, record, vaultKey, wrapped, place);
  const { messageLength } = statement;
  try {
    if (!equalBytes(commitment, statement.commitment))
      throw damaged("commitment", "the file's commitment is not that of the version statement");
    if (answer.fileSize !== null && answer.fileSize - payloadOffset !== messageLength)
      throw damaged("length", "the file's length is not that of the version statement");
  } catch (error) {
    dataKey.dispose();
    throw error;
  }
  return { statement, record, dataKey, messageLength, digest: isZero(statement.digest) ? null : statement.digest };
}

/**
 * The part that needs no byte of the file: vault, signature by a key of that place, floor, and what was seen before.
 * Throws CryptoError at step `pins` (`vault_changed`) or `statement` (`damaged`, `rolled_back`), or the errors of
 * parsing.
 */
export async function verifyVersionStatement(
  question: Pick<VersionQuestion, "vault" | "view" | "seen">,
  signed: Uint8Array | VersionStatement,
): Promise<VersionStatement> {
  const statement = signed instanceof Uint8Array ? parseVersionStatement(signed) : signed;
  await requireSigned(question, statement, versionPart(statement), "statement");
  requireNotOlder({ ...statement, number: statement.sequence }, question.seen, "statement");
  return statement;
}

export interface EntryQuestion extends TrustedVault {
  readonly kind: EntryKind;
  /** UUID in lower case. */
  readonly id: string;
  /** The newest entry statement seen of it; null at first sight. */
  readonly seen: SeenStatement | null;
}

/** The service's answer. */
export interface EntryAnswer {
  /** The signed statement, as bytes or as they were read. */
  readonly statement: Uint8Array | EntryStatement;
  /** As stored. */
  readonly metadata: Uint8Array;
  /** The record that the statement names by its key id; null in a vault with plain names. */
  readonly record: Uint8Array | null;
}

export interface OpenedEntry {
  readonly statement: EntryStatement;
  readonly metadata: Metadata;
}

/**
 * Verifies an entry statement, then opens the metadata. Throws CryptoError; its step is one of pins, entry, ids, record, metadata. Rejects
 * as `findVaultKey` does.
 */
export async function openEntry(
  platform: CryptoPlatform,
  question: EntryQuestion,
  answer: EntryAnswer,
  findVaultKey: FindVaultKey,
): Promise<OpenedEntry> {
  const statement = await verifyEntryStatement(question, answer.statement);
  const { kind, id } = statement;
  if (kind !== question.kind || id !== question.id) throw damaged("ids", "the entry is not the one that was asked for");
  if (!equalBytes(platform.sha256(answer.metadata), statement.metadataDigest))
    throw damaged("metadata", "the metadata is not that of the entry statement");
  if (question.view.plainNames) return { statement, metadata: parseMetadata(kind, answer.metadata) };
  const record = await verifyEntryRecord(question.view, statement, answer.record);
  const vaultKey = await findVaultKey(record);
  requireKeyOf(record, vaultKey);
  return { statement, metadata: await decryptMetadata(platform, vaultKey, statement, answer.metadata) };
}

/** The part before record and metadata. Throws CryptoError at step `pins` or `entry`. */
export async function verifyEntryStatement(
  question: Pick<EntryQuestion, "vault" | "view" | "seen">,
  signed: Uint8Array | EntryStatement,
): Promise<EntryStatement> {
  const statement = signed instanceof Uint8Array ? parseEntryStatement(signed) : signed;
  await requireSigned(question, statement, entryPart(statement), "entry");
  if (isZero(statement.keyId) !== question.view.plainNames)
    throw damaged("entry", "the entry names a key where names are plain, or none where they are encrypted");
  requireNotOlder({ ...statement, number: statement.revision }, question.seen, "entry");
  return statement;
}

/** The place and the signer that every statement names. */
export interface SignedStatement extends Place {
  readonly vault: Uint8Array;
  readonly signer: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * Throws CryptoError `vault_changed` at step `pins`. At `step` it throws `damaged` for an address that could not sign,
 * `rolled_back` below the floor.
 */
export async function requireSigned(
  { vault, view }: TrustedVault,
  statement: SignedStatement,
  { title, body }: SignedPart,
  step: CryptoStep,
): Promise<void> {
  for (const named of [view.vault, statement.vault])
    if (!equalBytes(named, vault))
      throw new CryptoError("vault_changed", "pins", `the vault is ${hex(vault)}, but the answer is of ${hex(named)}`);
  const { generation, signature, signer } = statement;
  const key = findSigner(view, signer, statement);
  if (key === null) throw damaged(step, "who signed the statement could not sign at its place");
  if (!(await verifyStatement(title, body, key, signature)))
    throw damaged(step, "the statement's signature is not its signer's");
  if (generation < view.floor)
    throw new CryptoError("rolled_back", step, `generation ${generation} is below the vault's floor ${view.floor}`);
}

function requireIds(question: VersionQuestion, statement: VersionStatement, start: FileStart): void {
  const { fileId, versionId } = start.header;
  if (fileId !== question.fileId || (question.versionId !== null && versionId !== question.versionId))
    throw damaged("ids", "the file is not the one that was asked for");
  if (!equalBytes(start.headerPrefix, statement.headerPrefix))
    throw damaged("ids", "the version statement is of another file or version");
}

async function verifyEnvelope(view: VaultView, statement: VersionStatement, bytes: Uint8Array): Promise<Envelope> {
  const envelope = parseEnvelope(bytes);
  await verifyNamedRecord(view, statement, envelope.record);
  return envelope;
}

async function verifyEntryRecord(
  view: VaultView,
  statement: EntryStatement,
  bytes: Uint8Array | null,
): Promise<VaultKeyRecord> {
  if (bytes === null) throw damaged("record", "the record that the entry names is missing");
  const record = parseRecord(bytes);
  await verifyNamedRecord(view, statement, record);
  return record;
}

async function verifyNamedRecord(
  view: VaultView,
  statement: VersionStatement | EntryStatement,
  record: VaultKeyRecord,
): Promise<void> {
  await verifyRecord(view, record);
  if (!equalBytes(record.keyId, statement.keyId)) throw damaged("record", "the record is not the one that was signed");
  if (comparePlaces(record, statement) !== 0) throw damaged("record", "record and statement are of different places");
}

function hex(bytes: Uint8Array): string {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
