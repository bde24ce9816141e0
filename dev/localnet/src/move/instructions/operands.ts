/** Reading the operand that an opcode carries. */
import type { Operand } from "../bytecode.ts";
import { MalformedCodeError } from "../values.ts";

export function indexOf(operand: Operand): number {
  if (typeof operand === "number") return operand;
  throw new MalformedCodeError("expected an index");
}

/** A u256 comes as its 32 bytes, little endian. */
export function constantOf(operand: Operand): bigint {
  if (typeof operand !== "object") return BigInt(operand);
  if (operand.length !== 32) throw new MalformedCodeError("expected a constant");
  return operand.reduceRight<bigint>((value, byte) => (value << 8n) | BigInt(byte), 0n);
}

/** Index of the element's signature, and how many elements. */
export function pairOf(operand: Operand): { readonly index: number; readonly count: number } {
  if (typeof operand === "object" && operand.length === 2) {
    return { index: Number(operand[0]), count: Number(operand[1]) };
  }
  throw new MalformedCodeError("expected an index and a count");
}
