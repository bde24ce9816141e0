/** Locals, references, control flow and calls. */
import { decodeConstant } from "./constants.ts";
import { entry, type FunctionSignature } from "../module.ts";
import { type MoveType, substitute } from "../types.ts";
import { asInteger, asReference, asVariant, copyOf, referent } from "../values.ts";
import { indexOf } from "./operands.ts";
import type { Step } from "../frame.ts";

const borrowLocal: Step = (frame, operand) => {
  const at = indexOf(operand);
  frame.local(at);
  frame.stack.push({ kind: "reference", box: frame.locals, at });
};

const branchIf =
  (wanted: boolean): Step =>
  (frame, operand) => {
    if ((frame.pop() === true) === wanted) frame.next = indexOf(operand);
  };

export const LOCAL_INSTRUCTIONS: Readonly<Record<string, Step>> = {
  Nop: () => {},
  Pop: (frame) => void frame.pop(),
  LdConst: (frame, operand) => frame.stack.push(decodeConstant(frame.module, indexOf(operand))),
  CopyLoc: (frame, operand) => frame.stack.push(copyOf(frame.local(indexOf(operand)))),
  MoveLoc: (frame, operand) => {
    const at = indexOf(operand);
    frame.stack.push(frame.local(at));
    frame.locals[at] = undefined;
  },
  StLoc: (frame, operand) => void (frame.locals[indexOf(operand)] = frame.pop()),
  ImmBorrowLoc: borrowLocal,
  MutBorrowLoc: borrowLocal,
  ReadRef: (frame) => frame.stack.push(copyOf(referent(frame.pop()))),
  WriteRef: (frame) => {
    const { box, at } = asReference(frame.pop());
    box[at] = frame.pop();
  },
  FreezeRef: () => {},
  Branch: (frame, operand) => void (frame.next = indexOf(operand)),
  BrTrue: branchIf(true),
  BrFalse: branchIf(false),
  VariantSwitch: (frame, operand) => {
    const table = entry(frame.called.jumpTables, indexOf(operand));
    frame.next = entry(table, asVariant(referent(frame.pop())).tag);
  },
  Ret: (frame) => void (frame.isDone = true),
  Abort: (frame) => frame.abort(asInteger(frame.pop()).value),
  Call: (frame, operand) => {
    frame.machine.call(frame, entry(frame.module.handles, indexOf(operand)), []);
  },
  CallGeneric: (frame, operand) => {
    const { handle, type_parameters } = entry(frame.module.json.function_instantiations, indexOf(operand));
    const signature: FunctionSignature = entry(frame.module.handles, handle);
    const typeArguments: MoveType[] = frame.module
      .signature(type_parameters)
      .map((type) => substitute(type, frame.typeArguments));
    frame.machine.call(frame, signature, typeArguments);
  },
};
