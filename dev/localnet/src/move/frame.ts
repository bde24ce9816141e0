/** One call of a function while it runs, and what an instruction is. */
import type { Operand } from "./bytecode.ts";
import type { FunctionSignature, MoveFunction, MoveModule } from "./module.ts";
import type { MoveType } from "./types.ts";
import { type MoveValue, MalformedCodeError } from "./values.ts";
import { type CodeLocation, MoveAbortError } from "./errors.ts";

/** What one instruction does to its frame. */
export type Step = (frame: Frame, operand: Operand) => void;

/** What runs the frame: calls of other functions are its business. */
interface Machine {
  call(frame: Frame, signature: FunctionSignature, typeArguments: readonly MoveType[]): void;
}

/** One call: its locals, its operands, and where it is. */
export class Frame {
  readonly machine: Machine;
  readonly module: MoveModule;
  readonly called: MoveFunction;
  readonly typeArguments: readonly MoveType[];
  readonly locals: (MoveValue | undefined)[];
  readonly stack: MoveValue[] = [];
  next = 0;
  isDone = false;

  constructor(
    machine: Machine,
    module: MoveModule,
    called: MoveFunction,
    typeArguments: readonly MoveType[],
    values: readonly MoveValue[],
  ) {
    this.machine = machine;
    this.module = module;
    this.called = called;
    this.typeArguments = typeArguments;
    this.locals = Array.from({ length: called.locals }, (_, at) => values[at]);
  }

  pop(): MoveValue {
    const value = this.stack.pop();
    if (value === undefined) throw new MalformedCodeError("the operand stack is empty");
    return value;
  }

  /** In the order in which they were pushed. */
  popMany(count: number): MoveValue[] {
    if (count > this.stack.length) throw new MalformedCodeError("the operand stack is too short");
    return this.stack.splice(this.stack.length - count, count);
  }

  local(index: number): MoveValue {
    const value = this.locals[index];
    if (value === undefined) throw new MalformedCodeError("the local was moved");
    return value;
  }

  /** Position of the running instruction. */
  location(): CodeLocation {
    const { address, module, name, index } = this.called;
    return { address, module, function: name, functionIndex: index, instruction: this.next - 1 };
  }

  abort(code: bigint): never {
    throw new MoveAbortError(code, this.location());
  }
}
