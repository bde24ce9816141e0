/**
 * The signed statements of shared vaults, as far as a service without keys reads them (file-format §7, §8). What a statement says of
 * encrypted bytes is its readers' to check.
 */
import { hash } from "node:crypto";
import {
  ENTRY_KINDS,
  ENTRY_STATEMENT,
  KEY_RECORD,
  SIBLING_BYTES,
  SIGNATURE_BYTES,
  VERSION_STATEMENT,
  LADDER_STEP,
  END_STEP,
  type Field,
} from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";

/** What every statement says. Ids of 32 bytes are `0x` and hex as chain addresses are, digests hex, item ids UUIDs. */
interface Statement {
  readonly vault: string;
  readonly generation: number;
  /** The end of a membership that had been reached, in milliseconds since 1970; with the generation the place. */
  readonly after: number;
  /** SHA-256 of the vault key's record; 64 zeros in an entry of a vault with plain names. */
  readonly keyId: string;
  /** SHA-256 of the signed statement before this one; 64 zeros for the first. */
  readonly previous: string;
  readonly signer: string;
  /** Milliseconds since 1970, by the signer's clock. */
  readonly time: number;
  /** SHA-256 of this whole signed statement: `previous` of the next one. */
  readonly digest: string;
  /** What its sibling names it by, if it was signed with one: SHA-256 of title and fields. */
  readonly fieldsDigest: string;
  /** The `fieldsDigest` of the other statement that the same signature is of; null: it was signed alone. */
  readonly sibling: string | null;
  /** The whole signed statement. */
  readonly bytes: Uint8Array;
}

export interface VersionStatement extends Statement {
  /** The first 44 bytes of the file. */
  readonly header: Uint8Array;
  readonly fileId: string;
  readonly versionId: string;
  /** SHA-256 of header and envelope. */
  readonly startDigest: string;
  /** 1 for a file's first version. */
  readonly sequence: number;
  /** Digest of the bytes after header and envelope. */
  readonly messageLength: number;
  /** SHA-256 of the message; null where the writer did not compute it. */
  readonly messageDigest: string | null;
}

export interface EntryStatement extends Statement {
  readonly kind: keyof typeof ENTRY_KINDS;
  /** Id of the file or folder. */
  readonly id: string;
  /** 1 for an item's first entry. */
  readonly revision: number;
  /** null: the top of the vault. */
  readonly folderId: string | null;
  /** SHA-256 of the metadata as stored. */
  readonly metadataDigest: string;
}

export interface KeyRecord {
  readonly vault: string;
  readonly generation: number;
  readonly after: number;
  readonly creator: string;
  /** In hex: which key the record holds. */
  readonly check: string;
  /** The member who made the key, whichever member sealed it. */
  readonly maker: string;
  /** The maker's signature in hex. */
  readonly made: string;
  /** SHA-256 of the record. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

/** A step from the vault key of one place down to an earlier one. What its link holds is its readers' to find out. */
export interface LadderStep {
  readonly vault: string;
  readonly from: StepPlace;
  readonly to: StepPlace;
  /** In hex: which key the link is to hold. */
  readonly check: string;
}

interface StepPlace {
  readonly generation: number;
  readonly after: number;
  /** Both as 32 hex digits: in order as the places are. */
  readonly name: string;
}

/** 64 zeros: no statement before, no key, no digest. */
export const ZERO_DIGEST = "0".repeat(64);

/** Throws `statement_invalid` for what has not the form of a version statement (base64). Nothing is verified yet. */
export function parseVersionStatement(text: string): VersionStatement {
  const bytes = parseBytes(text, "version", VERSION_STATEMENT);
  const layout = VERSION_STATEMENT;
  const messageDigest = hexAt(bytes, layout.digest);
  return {
    ...commonOf(bytes, layout),
    header: bytesAt(bytes, layout.header),
    fileId: uuidAt(bytes, layout.fileId),
    versionId: uuidAt(bytes, layout.versionId),
    startDigest: hexAt(bytes, layout.startDigest),
    sequence: countAt(bytes, layout.sequence),
    messageLength: countAt(bytes, layout.messageLength),
    messageDigest: messageDigest === ZERO_DIGEST ? null : messageDigest,
  };
}

/** Throws `statement_invalid` for what has not the form of an entry statement (base64). Nothing is verified yet. */
export function parseEntryStatement(text: string): EntryStatement {
  const bytes = parseBytes(text, "entry", ENTRY_STATEMENT);
  const layout = ENTRY_STATEMENT;
  const folderId = uuidAt(bytes, layout.folderId);
  return {
    ...commonOf(bytes, layout),
    kind: kindAt(bytes, layout.kind),
    id: uuidAt(bytes, layout.id),
    revision: countAt(bytes, layout.revision),
    folderId: folderId === NO_UUID ? null : folderId,
    metadataDigest: hexAt(bytes, layout.metadataDigest),
  };
}

/** Throws `statement_invalid` for what has not the form of a vault key's record (base64). Nothing is verified yet. */
export function parseKeyRecord(text: string): KeyRecord {
  const bytes = decodeBase64(text, "record");
  const { sealedOffset, maxSealedBytes } = KEY_RECORD;
  const least = sealedOffset + 1 + SIGNATURE_BYTES;
  if (bytes.length < least) throw invalid("record: too short");
  const sealed = Number(integerAt(bytes, KEY_RECORD.sealedLength));
  if (sealed === 0 || sealed > maxSealedBytes || bytes.length !== sealedOffset + sealed + SIGNATURE_BYTES)
    throw invalid("record: its length is not what it says");
  return {
    vault: addressAt(bytes, KEY_RECORD.vault),
    generation: countAt(bytes, KEY_RECORD.generation),
    after: afterAt(bytes, KEY_RECORD.after),
    creator: addressAt(bytes, KEY_RECORD.creator),
    check: hexAt(bytes, KEY_RECORD.check),
    maker: addressAt(bytes, KEY_RECORD.maker),
    made: hexAt(bytes, KEY_RECORD.made),
    keyId: hash("sha256", bytes, "hex"),
    bytes,
  };
}

const NO_UUID = "00000000-0000-0000-0000-000000000000";

type Layout = typeof VERSION_STATEMENT | typeof ENTRY_STATEMENT;

function commonOf(bytes: Buffer, layout: Layout): Statement {
  const fields = [0, layout.fieldBytes] as const;
  return {
    vault: addressAt(bytes, layout.vault),
    generation: countAt(bytes, layout.generation),
    after: afterAt(bytes, layout.after),
    keyId: hexAt(bytes, layout.keyId),
    previous: hexAt(bytes, layout.previous),
    signer: addressAt(bytes, layout.signer),
    time: countAt(bytes, layout.time),
    digest: hash("sha256", bytes, "hex"),
    fieldsDigest: hash("sha256", Buffer.concat([Buffer.from(`${layout.title}\0`), bytesAt(bytes, fields)]), "hex"),
    sibling: bytes.length === layout.jointBytes ? hexAt(bytes, [layout.fieldBytes, SIBLING_BYTES]) : null,
    bytes,
  };
}

/** Throws `statement_invalid` for what has not the form of a step (base64), or does not lead down. */
export function parseLadderStep(text: string): LadderStep {
  const bytes = decodeBase64(text, "step");
  if (bytes.length !== LADDER_STEP.bytes) throw invalid(`step: it has ${LADDER_STEP.bytes} bytes`);
  const [from, to] = [stepPlaceAt(bytes, LADDER_STEP.from), stepPlaceAt(bytes, LADDER_STEP.to)];
  if (to.name >= from.name) throw invalid("step: it leads to a lower place");
  return { vault: addressAt(bytes, LADDER_STEP.vault), from, to, check: hexAt(bytes, LADDER_STEP.check) };
}

function stepPlaceAt(bytes: Buffer, field: Field): StepPlace {
  const [offset] = field;
  const [generation, after] = [countAt(bytes, [offset, 8]), countAt(bytes, [offset + 8, 8])];
  return { generation, after, name: hexAt(bytes, field) };
}

function parseBytes(text: string, what: string, layout: Layout): Buffer {
  const bytes = decodeBase64(text, what);
  if (bytes.length !== layout.bytes && bytes.length !== layout.jointBytes)
    throw invalid(`${what}: a statement has ${layout.bytes} or ${layout.jointBytes} bytes`);
  return bytes;
}

/** Node's decoder skips unknown characters: only a text that encodes back to itself is the one form of a statement. */
function decodeBase64(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw invalid(`${what}: not base64`);
  return bytes;
}

function bytesAt(bytes: Buffer, [offset, length]: Field): Uint8Array {
  return bytes.subarray(offset, offset + length);
}

function hexAt(bytes: Buffer, [offset, length]: Field): string {
  return bytes.toString("hex", offset, offset + length);
}

function addressAt(bytes: Buffer, field: Field): string {
  return `0x${hexAt(bytes, field)}`;
}

function uuidAt(bytes: Buffer, field: Field): string {
  const hex = hexAt(bytes, field);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function kindAt(bytes: Buffer, field: Field): EntryStatement["kind"] {
  const number = integerAt(bytes, field);
  if (number === BigInt(ENTRY_KINDS.file)) return "file";
  if (number === BigInt(ENTRY_KINDS.folder)) return "folder";
  throw invalid("entry: unknown kind");
}

/** Counts, sizes and times stay below 2^53. */
function countAt(bytes: Buffer, field: Field): number {
  const value = integerAt(bytes, field);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid("A number in the statement is too large");
  return Number(value);
}

/** A membership ends at a whole quarter of an hour, and so does no place at another time. */
function afterAt(bytes: Buffer, field: Field): number {
  const after = countAt(bytes, field);
  if (after % END_STEP !== 0) throw invalid("The statement's place is at a time at which no membership ends");
  return after;
}

/** The field has 8 bytes, or at most 6. */
function integerAt(bytes: Buffer, [offset, length]: Field): bigint {
  return length === 8 ? bytes.readBigUInt64BE(offset) : BigInt(bytes.readUIntBE(offset, length));
}

/** What is wrong with a statement, or with what comes with it. */
export function invalid(message: string): ServiceError {
  return new ServiceError("statement_invalid", message);
}
