/** The record of a vault key: the sealed key, who made and who sealed it, and its place, signed (file-format §7). */
import { concatBytes, equalBytes } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import { CryptoError, damaged } from "./errors.ts";
import { FieldReader, sized, u16 } from "./fields.ts";
import { findSigner, placeOf, type VaultView } from "./membership.ts";
import { comparePlaces, encodePlace, readPlace, type Place } from "./place.ts";
import { sha256 } from "./sha256.ts";
import { signStatement, verifyStatement } from "./signatures.ts";
import type { StatementSigner } from "./statement-signer.ts";

/** The member who made a vault key: every record of the key says it, whichever member sealed that. */
export interface KeyOrigin {
  /** 32 bytes: the chain address of the key's maker. */
  readonly maker: Uint8Array;
  /** 64 bytes: the maker's signature of vault, place, maker and check. */
  readonly made: Uint8Array;
}

interface SealedFields extends Place {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  /** 32 bytes: the chain address of the member who sealed the key and signs the record. */
  readonly creator: Uint8Array;
  /** 32 bytes: the key's subkey `check`. */
  readonly check: Uint8Array;
  /** 1 to 3584 bytes, as a VaultKeyWrap made it. */
  readonly sealedKey: Uint8Array;
}

export interface RecordFields extends SealedFields {
  /** That of the record which this one seals again; absent: the creator made the key. */
  readonly origin?: KeyOrigin;
}

export interface VaultKeyRecord extends SealedFields, KeyOrigin {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole record, 275 to 3858 bytes. */
  readonly bytes: Uint8Array;
  /** 32 bytes: SHA-256 of the whole record. */
  readonly keyId: Uint8Array;
}

export const MAX_SEALED_KEY_BYTES = 3584;

/** Everything of a record but the sealed key: the fixed fields, the length, the signature. */
const FIXED_BYTES = 32 + 16 + 32 + 32 + 32 + SIGNATURE_BYTES + 2 + SIGNATURE_BYTES;

/** In bytes. */
export const MAX_RECORD_BYTES = FIXED_BYTES + MAX_SEALED_KEY_BYTES;

/** Signs a record. RangeError for fields of other lengths than {@link RecordFields} gives. */
export async function signRecord(fields: RecordFields, signer: StatementSigner): Promise<VaultKeyRecord> {
  const { creator: maker } = fields;
  const origin = fields.origin ?? {
    maker,
    made: await signStatement("coffer/vault-key-made/v1", encodeMade({ ...fields, maker }), signer),
  };
  const body = encodeBody(fields, origin);
  return parseRecord(concatBytes(body, await signStatement("coffer/vault-key/v1", body, signer)));
}

/** The records read last, the newest first: every file and entry of a generation brings the same one. */
const recent: VaultKeyRecord[] = [];
const MOST_RECENT = 4;

/**
 * Reads one record and nothing after it. The same bytes may give the same object again. Throws CryptoError `damaged`;
 * {@link verifyRecord} checks its signer.
 */
export function parseRecord(bytes: Uint8Array): VaultKeyRecord {
  const cached = recent.find((record) => equalBytes(record.bytes, bytes));
  if (cached !== undefined) return cached;
  const record = parseNew(bytes);
  recent.unshift(record);
  recent.length = Math.min(recent.length, MOST_RECENT);
  return record;
}

function parseNew(bytes: Uint8Array): VaultKeyRecord {
  if (bytes.length <= FIXED_BYTES || bytes.length > MAX_RECORD_BYTES)
    throw damaged("record", `a vault key's record has ${FIXED_BYTES + 1} to ${MAX_RECORD_BYTES} bytes`);
  const reader = new FieldReader(bytes);
  const places = { vault: reader.read(32), ...readPlace(reader, "record"), creator: reader.read(32) };
  const check = reader.read(32);
  const origin = { maker: reader.read(32), made: reader.read(SIGNATURE_BYTES) };
  const sealedLength = reader.readU16();
  if (sealedLength + SIGNATURE_BYTES !== reader.remaining)
    throw damaged("record", "the record's length is not that of its sealed key");
  const sealedKey = reader.read(sealedLength);
  const signature = reader.read(SIGNATURE_BYTES);
  return { ...places, check, ...origin, sealedKey, signature, bytes: reader.whole, keyId: sha256(reader.whole) };
}

/** What each read of the vault object has shown to be true: every file of a generation brings the same record. */
const verified = new WeakMap<VaultView, WeakSet<VaultKeyRecord>>();

/**
 * Whether the record is of this vault, and both its maker and its creator were members at its place and signed. Anyone could wrap a key of their own choosing for a vault. Throws CryptoError at step `record`: `vault_changed` for another vault's, else `damaged`.
 */
export async function verifyRecord(view: VaultView, record: VaultKeyRecord): Promise<void> {
  if (verified.get(view)?.has(record) === true) return;
  if (!equalBytes(record.vault, view.vault))
    throw new CryptoError("vault_changed", "record", "the vault key's record is another vault's");
  const [key, makersKey] = [record.creator, record.maker].map((address) => findSigner(view, address, record));
  if (key == null || makersKey == null)
    throw damaged("record", "who made or sealed the vault key was not a member at its place");
  if (!(await verifyStatement("coffer/vault-key-made/v1", encodeMade(record), makersKey, record.made)))
    throw damaged("record", "the vault key's maker did not sign for it");
  const body = record.bytes.subarray(0, -SIGNATURE_BYTES);
  if (!(await verifyStatement("coffer/vault-key/v1", body, key, record.signature)))
    throw damaged("record", "the signature of the vault key's record is not its creator's");
  const records = verified.get(view) ?? new WeakSet();
  verified.set(view, records.add(record));
}

/**
 * Whether a writer may use the record. It must be of the generation just read, at its place or at a later one that the
 * view has reached. Its maker and its creator must be members who sign there.
 */
export function isRecordForWriting(view: VaultView, record: VaultKeyRecord): boolean {
  if (record.generation !== view.generation || comparePlaces(record, placeOf(view)) < 0) return false;
  return [record.creator, record.maker].every((address) => findSigner(view, address, record) !== null);
}

function encodeMade(fields: Pick<VaultKeyRecord, "vault" | "generation" | "after" | "maker" | "check">): Uint8Array {
  return concatBytes(
    sized(fields.vault, 32, "vault"),
    encodePlace(fields),
    sized(fields.maker, 32, "maker"),
    sized(fields.check, 32, "check"),
  );
}

function encodeBody(fields: RecordFields, { maker, made }: KeyOrigin): Uint8Array {
  const { sealedKey } = fields;
  if (sealedKey.length === 0 || sealedKey.length > MAX_SEALED_KEY_BYTES)
    throw new RangeError(`a sealed key has 1 to ${MAX_SEALED_KEY_BYTES} bytes`);
  return concatBytes(
    sized(fields.vault, 32, "vault"),
    encodePlace(fields),
    sized(fields.creator, 32, "creator"),
    sized(fields.check, 32, "check"),
    sized(maker, 32, "maker"),
    sized(made, SIGNATURE_BYTES, "made"),
    u16(sealedKey.length),
    sealedKey,
  );
}
