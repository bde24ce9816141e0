/** Move values. Structs and vectors are boxes that references point into; everything else never changes. */
import type { IntegerBits } from "./types.ts";

export interface Integer {
  readonly kind: "integer";
  readonly bits: IntegerBits;
  readonly value: bigint;
}

export interface Vector {
  readonly kind: "vector";
  readonly items: MoveValue[];
}

export interface Struct {
  readonly kind: "struct";
  readonly fields: MoveValue[];
}

export interface Variant {
  readonly kind: "variant";
  readonly tag: number;
  readonly fields: MoveValue[];
}

/** A place in a box: a local of a frame, a field, an element. */
export interface Reference {
  readonly kind: "reference";
  readonly box: (MoveValue | undefined)[];
  readonly at: number;
}

/** Booleans are booleans; addresses are texts of `0x` and 64 hex digits. */
export type MoveValue = boolean | string | Integer | Vector | Struct | Variant | Reference;

/** What the interpreter meets only when bytecode did not come from the compiler: there is no verifier here. */
export class MalformedCodeError extends Error {
  override readonly name = "MalformedCodeError";
}

/** Bytes are made of these, so that a key of 32 bytes is 32 pointers. */
const BYTES: readonly Integer[] = Array.from({ length: 256 }, (_, value) => ({
  kind: "integer",
  bits: 8,
  value: BigInt(value),
}));

export function integer(bits: IntegerBits, value: bigint): Integer {
  if (bits === 8) {
    const byte = BYTES[Number(value)];
    if (byte !== undefined) return byte;
  }
  return { kind: "integer", bits, value };
}

export function bytesValue(bytes: Uint8Array): Vector {
  return { kind: "vector", items: Array.from(bytes, (byte) => integer(8, BigInt(byte))) };
}

export function isInteger(value: MoveValue): value is Integer {
  return typeof value === "object" && value.kind === "integer";
}

export function asInteger(value: MoveValue): Integer {
  if (isInteger(value)) return value;
  throw new MalformedCodeError("expected an integer");
}

export const asVector = boxOf<Vector>("vector", "a vector");
export const asStruct = boxOf<Struct>("struct", "a struct");
export const asVariant = boxOf<Variant>("variant", "an enum");
export const asReference = boxOf<Reference>("reference", "a reference");

function boxOf<Box extends Vector | Struct | Variant | Reference>(kind: Box["kind"], what: string) {
  return (value: MoveValue): Box => {
    if (typeof value === "object" && value.kind === kind) return value as Box;
    throw new MalformedCodeError(`expected ${what}`);
  };
}

export function asAddress(value: MoveValue): string {
  if (typeof value === "string") return value;
  throw new MalformedCodeError("expected an address");
}

/** What a reference points to; the value itself, not a copy. */
export function referent(value: MoveValue): MoveValue {
  const { box, at } = asReference(value);
  const found = box[at];
  if (found === undefined) throw new MalformedCodeError("the reference points to nothing");
  return found;
}

/** A value that shares no box with the original. */
export function copyOf(value: MoveValue): MoveValue {
  if (typeof value !== "object") return value;
  switch (value.kind) {
    case "vector":
      return { kind: "vector", items: value.items.map(copyOf) };
    case "struct":
      return { kind: "struct", fields: value.fields.map(copyOf) };
    case "variant":
      return { kind: "variant", tag: value.tag, fields: value.fields.map(copyOf) };
    default:
      return value;
  }
}

/** Move's `==`: by value, and for references by what they point to. */
export function areEqual(a: MoveValue, b: MoveValue): boolean {
  if (typeof a !== "object" || typeof b !== "object") return a === b;
  if (a.kind === "reference") return areEqual(referent(a), referent(b));
  if (a.kind === "integer") return isInteger(b) && a.bits === b.bits && a.value === b.value;
  if (a.kind === "vector") return b.kind === "vector" && areAllEqual(a.items, b.items);
  if (a.kind === "struct") return b.kind === "struct" && areAllEqual(a.fields, b.fields);
  return b.kind === "variant" && a.tag === b.tag && areAllEqual(a.fields, b.fields);
}

function areAllEqual(a: readonly MoveValue[], b: readonly MoveValue[]): boolean {
  return a.length === b.length && a.every((value, at) => areEqual(value, b[at] ?? false));
}
