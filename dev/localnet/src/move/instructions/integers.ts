/** Constants, arithmetic, bits, comparison and casts. */
import { MovePrimitiveError } from "../errors.ts";
import type { IntegerBits } from "../types.ts";
import { areEqual, asInteger, type Integer, integer } from "../values.ts";
import { constantOf } from "./operands.ts";
import type { Frame, Step } from "../frame.ts";

const load =
  (bits: IntegerBits): Step =>
  (frame, operand) =>
    frame.stack.push(integer(bits, constantOf(operand)));

/** Both operands have the same width, which the result must fit. */
const arithmetic =
  (compute: (a: bigint, b: bigint) => bigint): Step =>
  (frame) => {
    const { a, b } = operands(frame);
    frame.stack.push(fitting(a.bits, compute(a.value, b.value)));
  };

const division =
  (compute: (a: bigint, b: bigint) => bigint): Step =>
  (frame) => {
    const { a, b } = operands(frame);
    if (b.value === 0n) throw new MovePrimitiveError("division by zero");
    frame.stack.push(integer(a.bits, compute(a.value, b.value)));
  };

/** What is shifted out is gone; the distance must be less than the width. */
const shift =
  (compute: (value: bigint, distance: bigint) => bigint): Step =>
  (frame) => {
    const { a, b } = operands(frame);
    if (b.value >= BigInt(a.bits)) throw new MovePrimitiveError("the shift is as long as the number");
    frame.stack.push(integer(a.bits, BigInt.asUintN(a.bits, compute(a.value, b.value))));
  };

const comparison =
  (compare: (a: bigint, b: bigint) => boolean): Step =>
  (frame) => {
    const { a, b } = operands(frame);
    frame.stack.push(compare(a.value, b.value));
  };

const cast =
  (bits: IntegerBits): Step =>
  (frame) =>
    frame.stack.push(fitting(bits, asInteger(frame.pop()).value));

const logic =
  (compute: (a: boolean, b: boolean) => boolean): Step =>
  (frame) => {
    const b = frame.pop() === true;
    frame.stack.push(compute(frame.pop() === true, b));
  };

const equality =
  (wanted: boolean): Step =>
  (frame) => {
    const b = frame.pop();
    frame.stack.push(areEqual(frame.pop(), b) === wanted);
  };

export const INTEGER_INSTRUCTIONS: Readonly<Record<string, Step>> = {
  LdU8: load(8),
  LdU16: load(16),
  LdU32: load(32),
  LdU64: load(64),
  LdU128: load(128),
  LdU256: load(256),
  LdTrue: (frame) => frame.stack.push(true),
  LdFalse: (frame) => frame.stack.push(false),
  CastU8: cast(8),
  CastU16: cast(16),
  CastU32: cast(32),
  CastU64: cast(64),
  CastU128: cast(128),
  CastU256: cast(256),
  Add: arithmetic((a, b) => a + b),
  Sub: arithmetic((a, b) => a - b),
  Mul: arithmetic((a, b) => a * b),
  Div: division((a, b) => a / b),
  Mod: division((a, b) => a % b),
  BitOr: arithmetic((a, b) => a | b),
  BitAnd: arithmetic((a, b) => a & b),
  Xor: arithmetic((a, b) => a ^ b),
  Shl: shift((value, distance) => value << distance),
  Shr: shift((value, distance) => value >> distance),
  Lt: comparison((a, b) => a < b),
  Gt: comparison((a, b) => a > b),
  Le: comparison((a, b) => a <= b),
  Ge: comparison((a, b) => a >= b),
  Eq: equality(true),
  Neq: equality(false),
  Or: logic((a, b) => a || b),
  And: logic((a, b) => a && b),
  Not: (frame) => frame.stack.push(frame.pop() !== true),
};

function operands(frame: Frame): { readonly a: Integer; readonly b: Integer } {
  const b = asInteger(frame.pop());
  return { a: asInteger(frame.pop()), b };
}

function fitting(bits: IntegerBits, value: bigint): Integer {
  if (value < 0n || value >> BigInt(bits) !== 0n) throw new MovePrimitiveError("the number does not fit its type");
  return integer(bits, value);
}
