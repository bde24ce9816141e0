/** The values that commands pass on: inputs, the gas coin, results. */
import { fromBase64 } from "@mysten/bcs";
import { decodeValue } from "../move/bcs-values.ts";
import type { Layouts } from "../move/layouts.ts";
import { FRAMEWORK, type MoveType, renderType, STANDARD } from "../move/types.ts";
import { copyOf, type MoveValue } from "../move/values.ts";
import { badArgument, ExecutionFailure } from "./failures.ts";
import type { StoredObject } from "./objects.ts";
import type { Argument, CallArg } from "./transaction-form.ts";

/** What a transaction may do with an object it names. */
export type Access = "owned" | "shared-mutable" | "shared-read" | "immutable" | "gas";

/** A value with its type. It is moved out of its box when it is used up. */
export interface Slot {
  readonly type: MoveType;
  readonly box: (MoveValue | undefined)[];
  /** Null for what is no object of the chain yet. */
  readonly object: { readonly stored: StoredObject; readonly access: Access } | null;
}

export function slotOf(value: MoveValue, type: MoveType): Slot {
  return { type, box: [value], object: null };
}

/** All that commands can name. */
export class Slots {
  readonly results: Slot[][] = [];
  readonly #inputs: (Slot | { readonly pure: Uint8Array })[];
  readonly #gas: Slot | null;
  readonly #layouts: Layouts;

  constructor(inputs: readonly CallArg[], objects: readonly (Slot | null)[], gas: Slot | null, layouts: Layouts) {
    this.#inputs = inputs.map((input, at) => {
      const slot = objects[at] ?? null;
      if (slot !== null) return slot;
      return { pure: input.$kind === "Pure" ? new Uint8Array(fromBase64(input.Pure.bytes)) : new Uint8Array() };
    });
    this.#gas = gas;
    this.#layouts = layouts;
  }

  /**
   * Takes an argument for a parameter: by reference, by copy, or moved out of its slot. `at` is its place in the command,
   * for the failure.
   */
  take(argument: Argument, type: MoveType, at: number): MoveValue {
    if (type.kind === "reference") return this.#borrow(argument, type.to, type.mutable, at);
    const slot = this.find(argument, type, at);
    const value = valueOf(slot, at);
    requireType(slot, type, at);
    if (this.#layouts.abilitiesOf(type).copy) return copyOf(value);
    if (slot.object !== null) requireOwned(slot.object.access, at);
    slot.box[0] = undefined;
    return value;
  }

  #borrow(argument: Argument, type: MoveType, mutable: boolean, at: number): MoveValue {
    const slot = this.find(argument, type, at);
    valueOf(slot, at);
    requireType(slot, type, at);
    const access = slot.object?.access;
    if (mutable && (access === "immutable" || access === "shared-read")) {
      throw badArgument(
        at,
        "INVALID_OBJECT_BY_MUT_REF",
        "Immutable objects cannot be passed by mutable reference, &mut.",
      );
    }
    return { kind: "reference", box: slot.box, at: 0 };
  }

  /** The slot that an argument names. Bytes become a value of the type that is wanted, once. */
  find(argument: Argument, wanted: MoveType | null, at: number): Slot {
    if (argument.$kind === "GasCoin") {
      if (this.#gas === null) throw badArgument(at, "INVALID_GAS_COIN_USAGE", "There is no gas coin.");
      return this.#gas;
    }
    if (argument.$kind === "Input") return this.#input(argument.Input, wanted, at);
    const [command, index] = argument.$kind === "Result" ? [argument.Result, null] : argument.NestedResult;
    const results = this.results[command];
    if (results === undefined) throw badArgument(at, "INDEX_OUT_OF_BOUNDS", `There is no result ${command}.`);
    if (index === null && results.length !== 1) {
      throw badArgument(at, "INVALID_RESULT_ARITY", `Result ${command} is not a single value.`);
    }
    const slot = results[index ?? 0];
    if (slot === undefined) {
      throw badArgument(at, "SECONDARY_INDEX_OUT_OF_BOUNDS", `Result ${command} has no value ${index ?? 0}.`);
    }
    return slot;
  }

  #input(index: number, wanted: MoveType | null, at: number): Slot {
    const input = this.#inputs[index];
    if (input === undefined) throw badArgument(at, "INDEX_OUT_OF_BOUNDS", `There is no input ${index}.`);
    if (!("pure" in input)) return input;
    if (wanted === null || !isPure(wanted)) {
      throw badArgument(at, "INVALID_USAGE_OF_PURE_ARGUMENT", "Bytes cannot stand for a value of this type.");
    }
    return slotOf(this.#decode(input.pure, wanted, at), wanted);
  }

  #decode(bytes: Uint8Array, type: MoveType, at: number): MoveValue {
    try {
      return decodeValue(bytes, type, this.#layouts);
    } catch (error) {
      const why = error instanceof Error ? error.message : "unreadable";
      throw badArgument(at, "INVALID_BCS_BYTES", `The argument cannot be read as ${renderType(type)}: ${why}.`);
    }
  }

  /** Values that nobody took and that may not be dropped. */
  checkDropped(): void {
    for (const [command, results] of this.results.entries()) {
      for (const [index, slot] of results.entries()) {
        if (slot.box[0] === undefined || this.#layouts.abilitiesOf(slot.type).drop) continue;
        const what = `result ${command}, value ${index}`;
        throw new ExecutionFailure("UNUSED_VALUE_WITHOUT_DROP", `Unused value without the drop ability: ${what}.`);
      }
    }
  }
}

/** Types that bytes may stand for: what holds no object. */
function isPure(type: MoveType): boolean {
  if (type.kind === "vector") return isPure(type.element);
  if (type.kind !== "datatype") return type.kind !== "signer" && type.kind !== "reference";
  const name = `${type.module}::${type.name}`;
  if (type.address === FRAMEWORK) return name === "object::ID";
  if (type.address !== STANDARD) return false;
  return (
    name === "string::String" ||
    name === "ascii::String" ||
    (name === "option::Option" && type.typeArguments.every(isPure))
  );
}

function valueOf(slot: Slot, at: number): MoveValue {
  const [value] = slot.box;
  if (value === undefined)
    throw badArgument(at, "ARGUMENT_WITHOUT_VALUE", "The value was taken by an earlier command.");
  return value;
}

function requireType(slot: Slot, type: MoveType, at: number): void {
  const [has, wanted] = [renderType(slot.type), renderType(type)];
  if (has !== wanted) throw badArgument(at, "TYPE_MISMATCH", `The argument is of type ${has}, not ${wanted}.`);
}

function requireOwned(access: Access, at: number): void {
  if (access === "gas") {
    throw badArgument(at, "INVALID_GAS_COIN_USAGE", "The gas coin can be taken by value by TransferObjects only.");
  }
  if (access === "immutable") {
    throw badArgument(at, "INVALID_OBJECT_BY_VALUE", "Immutable objects cannot be passed by value.");
  }
  if (access !== "owned") {
    throw badArgument(at, "CONSENSUS_OBJECT_OPERATION_NOT_ALLOWED", "Shared objects cannot be taken by value here.");
  }
}
