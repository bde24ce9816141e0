/**
 * The interpreter. It runs only output of the real compiler. There is no bytecode verifier here: it relies on the
 * compiler for borrow, type and resource safety. `differential.test.ts` compares it with the real Move VM.
 */
import { costOf } from "./costs.ts";
import { MovePrimitiveError } from "./errors.ts";
import type { GasMeter } from "./gas-meter.ts";
import type { Operand } from "./bytecode.ts";
import type { FunctionSignature, MoveFunction, MoveModule } from "./module.ts";
import type { FindModule } from "./layouts.ts";
import { INSTRUCTIONS } from "./instructions/index.ts";
import type { MoveType } from "./types.ts";
import { MalformedCodeError, type MoveValue } from "./values.ts";
import { type Step, Frame } from "./frame.ts";

/** Functions of the framework, in TypeScript. Throws {@link MalformedCodeError} for one that is not there. */
export type CallFramework = (
  signature: FunctionSignature,
  typeArguments: readonly MoveType[],
  values: readonly MoveValue[],
) => readonly MoveValue[];

export interface MachineOptions {
  readonly findModule: FindModule;
  readonly callFramework: CallFramework;
  readonly gas: GasMeter;
  /** Replaces what an opcode does; for the test that shows that the differential test sees it. */
  readonly instructions?: Readonly<Record<string, Step>>;
}

/** As in the Move VM. */
const MAX_CALL_DEPTH = 1024;

export class Machine {
  readonly #options: MachineOptions;
  readonly #instructions: Readonly<Record<string, Step>>;
  #depth = 0;

  constructor(options: MachineOptions) {
    this.#options = options;
    this.#instructions = options.instructions ?? INSTRUCTIONS;
  }

  /**
   * Runs a function to its end. References among the values point into the caller's boxes.
   * @throws MoveAbortError, MovePrimitiveError, OutOfGasError; MalformedCodeError for code that is not the compiler's.
   */
  run(
    module: MoveModule,
    called: MoveFunction,
    typeArguments: readonly MoveType[],
    values: readonly MoveValue[],
  ): readonly MoveValue[] {
    if (this.#depth >= MAX_CALL_DEPTH) throw new MovePrimitiveError("the call stack is too deep");
    this.#depth += 1;
    const frame = new Frame(this, module, called, typeArguments, values);
    try {
      return this.#toEnd(frame);
    } finally {
      this.#depth -= 1;
    }
  }

  call(frame: Frame, signature: FunctionSignature, typeArguments: readonly MoveType[]): void {
    const values = frame.popMany(signature.parameters.length);
    const { module } = frame;
    const own = signature.address === module.address && signature.module === module.name ? module : null;
    const target = own ?? this.#options.findModule(signature.address, signature.module);
    if (target === null) {
      frame.stack.push(...this.#options.callFramework(signature, typeArguments, values));
      return;
    }
    const called = target.functions.find((candidate) => candidate.name === signature.name);
    if (called === undefined) throw new MalformedCodeError(`there is no function ${signature.name}`);
    frame.stack.push(...this.run(target, called, typeArguments, values));
  }

  #toEnd(frame: Frame): readonly MoveValue[] {
    const { code } = frame.called;
    while (!frame.isDone) {
      const instruction = code[frame.next];
      if (instruction === undefined) throw new MalformedCodeError("the code has no end");
      frame.next += 1;
      if (typeof instruction === "string") this.#step(frame, instruction, 0);
      else for (const opcode in instruction) this.#step(frame, opcode, instruction[opcode] ?? 0);
    }
    return frame.stack;
  }

  #step(frame: Frame, opcode: string, operand: Operand): void {
    const step = this.#instructions[opcode];
    if (step === undefined) throw new MalformedCodeError(`the opcode ${opcode} is not known here`);
    try {
      this.#options.gas.charge(1, costOf(frame, opcode, operand));
      step(frame, operand);
    } catch (error) {
      if (error instanceof MovePrimitiveError && error.location === null) {
        throw new MovePrimitiveError(error.message, frame.location());
      }
      throw error;
    }
  }
}
