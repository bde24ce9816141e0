/** Reading the operand that an opcode carries. */
import type { Operand } from "../bytecode.ts";
import { MalformedCodeError } from "../values.ts";

export function indexOf(operand: Operand): number {
  if (typeof operand === "number") return operand;
  throw new MalformedCodeError("expected an index");
}

export function constantOf(operand: Operand): bigint {
  if (typeof operand === "number" || typeof operand === "bigint") return BigInt(operand);
  throw new MalformedCodeError("expected a constant");
}

/** Index of the element's signature, and how many elements. */
export function pairOf(operand: Operand): { readonly index: number; readonly count: number } {
  if (typeof operand === "object") return { index: operand[0], count: Number(operand[1]) };
  throw new MalformedCodeError("expected an index and a count");
}
