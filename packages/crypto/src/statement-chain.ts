/** How the statements about one file, or one entry, follow each other (file-format §8). */
import { equalBytes } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import { CryptoError, damaged, type CryptoStep } from "./errors.ts";
import { isZero, type FieldReader } from "./fields.ts";
import { comparePlaces, type Place } from "./place.ts";
import { sha256 } from "./sha256.ts";

/** What a client remembers of the newest statement it has seen about a file or an entry. It is not secret. */
export interface SeenStatement extends Place {
  /** The version's sequence, or the entry's revision. */
  readonly number: bigint;
  /** 32 bytes: SHA-256 of the whole signed statement. */
  readonly hash: Uint8Array;
}

/** The common fields of both kinds of statement; `number` is a version's sequence, an entry's revision. */
export interface LinkedStatement extends Place {
  readonly number: bigint;
  readonly previous: Uint8Array;
  readonly bytes: Uint8Array;
}

/** SHA-256 of a whole signed statement: the `previous` of the next one. 32 bytes. */
export function statementHash(bytes: Uint8Array): Uint8Array {
  return sha256(bytes);
}

/** The `previous` of a first statement. */
export const NO_PREVIOUS: Uint8Array = new Uint8Array(32);

/** A first statement has number 1 and no previous one, every other has both. Throws CryptoError `damaged`. */
export function requireLinked(number: bigint, previous: Uint8Array, step: CryptoStep): void {
  if (number === 0n || (number === 1n) !== isZero(previous))
    throw damaged(step, "the statement's number and the statement before it do not fit together");
}

/**
 * Throws CryptoError `rolled_back` in three cases. The statement is older than the one seen, or another one with the
 * same number. Or it is the next one and does not name the one seen.
 */
export function requireNotOlder(statement: LinkedStatement, seen: SeenStatement | null, step: CryptoStep): void {
  if (seen === null) return;
  const { number, previous, bytes } = statement;
  const refuse = (message: string): never => {
    throw new CryptoError("rolled_back", step, message);
  };
  if (number < seen.number) refuse(`the statement is number ${number}, but number ${seen.number} was seen already`);
  if (comparePlaces(statement, seen) < 0)
    refuse(`the statement is of generation ${describe(statement)}, but ${describe(seen)} was seen already`);
  if (number === seen.number && !equalBytes(statementHash(bytes), seen.hash))
    refuse("the statement is not the one that was seen under the same number");
  if (number === seen.number + 1n && !equalBytes(previous, seen.hash))
    refuse("the statement does not follow the one that was seen");
}

function describe({ generation, after }: Place): string {
  return after === 0n ? String(generation) : `${generation} after ${after}`;
}

const LAST_NUMBER = (1n << 64n) - 1n;

/**
 * The number of the statement after `previous`; null: of the first. Throws CryptoError `damaged` after the last
 * number. No client gets there by counting, but a member may have signed it. Then you can only write a new item
 * instead of this one.
 */
export function nextNumber(previous: bigint | null, step: CryptoStep): bigint {
  if (previous === LAST_NUMBER) throw damaged(step, "no statement can follow: its number is the last of 64 bits");
  return (previous ?? 0n) + 1n;
}

/** Milliseconds and lengths: a u64 that JavaScript counts exactly. */
export function readSafeNumber(reader: FieldReader, step: CryptoStep): number {
  const value = reader.readU64();
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged(step, "the statement names a number above 2^53 - 1");
  return Number(value);
}

/** The digest of the other statement of the same signature, between a statement's fields and the signature. */
export const SIBLING_BYTES = 32;

/** The end of a statement: the sibling's digest if two were signed together, and the signature. */
export function readSignature(
  reader: FieldReader,
  isJoint: boolean,
): { readonly sibling: Uint8Array | null; readonly signature: Uint8Array } {
  const sibling = isJoint ? reader.read(SIBLING_BYTES) : null;
  return { sibling, signature: reader.read(SIGNATURE_BYTES) };
}
