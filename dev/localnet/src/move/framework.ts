/**
 * The functions of the Sui framework and the Move standard library that the Coffer package calls, and no others: an
 * unknown one is refused. What they do to the chain goes through {@link FrameworkEffects}.
 */
import type { GasMeter } from "./gas-meter.ts";
import type { CallFramework } from "./machine.ts";
import { MoveAbortError, MovePrimitiveError } from "./errors.ts";
import { FRAMEWORK, type MoveType, STANDARD } from "./types.ts";
import {
  asAddress,
  asInteger,
  asStruct,
  asVector,
  bytesValue,
  copyOf,
  MalformedCodeError,
  type MoveValue,
  referent,
} from "./values.ts";

export interface FrameworkEffects {
  /** A new object id. */
  freshId(): string;
  shareObject(object: MoveValue, type: MoveType): void;
  emitEvent(event: MoveValue, type: MoveType): void;
}

/** What runs on the chain in the place of a shim: instructions, and what they push, bytes included. By the framework's published sources. */
type Cost = readonly [instructions: number, pushes: number, bytes: number];

/** Type arguments and values as the call has them. */
type Shim = (
  effects: FrameworkEffects,
  values: readonly MoveValue[],
  typeArguments: readonly MoveType[],
) => readonly MoveValue[];

/** std::vector's EINDEX_OUT_OF_BOUNDS. */
const INDEX_OUT_OF_BOUNDS = 0x20000n;

const REMOVE = `${STANDARD}::vector::remove`;

const SHIMS: Readonly<Record<string, Shim>> = {
  [REMOVE]: (_effects, [vector, index]) => {
    const { items } = asVector(referent(given(vector)));
    const at = asInteger(given(index)).value;
    if (at >= BigInt(items.length)) throw abortIn("vector", "remove", INDEX_OUT_OF_BOUNDS);
    return items.splice(Number(at), 1);
  },
  [`${STANDARD}::option::none`]: () => [option([])],
  [`${STANDARD}::option::some`]: (_effects, [value]) => [option([given(value)])],
  [`${FRAMEWORK}::object::new`]: (effects) => [uid(effects.freshId())],
  [`${FRAMEWORK}::object::uid_to_inner`]: (_effects, [id]) => [copyOf(innerOf(id))],
  [`${FRAMEWORK}::object::uid_to_bytes`]: (_effects, [id]) => {
    const [address] = asStruct(innerOf(id)).fields;
    return [bytesValue(Buffer.from(asAddress(given(address)).slice(2), "hex"))];
  },
  [`${FRAMEWORK}::clock::timestamp_ms`]: (_effects, [clock]) => {
    const [, time] = asStruct(referent(given(clock))).fields;
    return [given(time)];
  },
  [`${FRAMEWORK}::tx_context::sender`]: (_effects, [context]) => {
    const [sender] = asStruct(referent(given(context))).fields;
    return [given(sender)];
  },
  [`${FRAMEWORK}::tx_context::digest`]: (_effects, [context]) => [
    { kind: "reference", box: asStruct(referent(given(context))).fields, at: 1 },
  ],
  [`${FRAMEWORK}::event::emit`]: (effects, [event], [type]) => {
    effects.emitEvent(given(event), given(type));
    return [];
  },
  [`${FRAMEWORK}::transfer::share_object`]: (effects, [object], [type]) => {
    effects.shareObject(given(object), given(type));
    return [];
  },
};

const COSTS: Readonly<Record<string, Cost>> = {
  [REMOVE]: [18, 12, 70],
  [`${STANDARD}::option::none`]: [3, 2, 10],
  [`${STANDARD}::option::some`]: [4, 3, 18],
  [`${FRAMEWORK}::object::new`]: [12, 7, 110],
  [`${FRAMEWORK}::object::uid_to_inner`]: [4, 3, 50],
  [`${FRAMEWORK}::object::uid_to_bytes`]: [5, 4, 58],
  [`${FRAMEWORK}::clock::timestamp_ms`]: [4, 3, 24],
  [`${FRAMEWORK}::tx_context::sender`]: [2, 1, 32],
  [`${FRAMEWORK}::tx_context::digest`]: [3, 2, 16],
  [`${FRAMEWORK}::transfer::share_object`]: [3, 1, 8],
};
/** For each element behind the one that `vector::remove` takes out: it is moved up by a swap. */
const MOVED_UP: Cost = [13, 10, 51];

export function frameworkFor(effects: FrameworkEffects, gas: GasMeter): CallFramework {
  const charge = ([instructions, pushes, bytes]: Cost, times = 1): void =>
    gas.charge(instructions * times, { pushes: pushes * times, pops: pushes * times, bytes: bytes * times });
  return (signature, typeArguments, values) => {
    const name = `${signature.address}::${signature.module}::${signature.name}`;
    const shim = Object.hasOwn(SHIMS, name) ? SHIMS[name] : undefined;
    if (shim === undefined) throw new MalformedCodeError(`the local chain has no ${name}`);
    const cost = COSTS[name];
    if (cost !== undefined) charge(cost);
    if (name === REMOVE) charge(MOVED_UP, countBehind(values));
    return shim(effects, values, typeArguments);
  };
}

function countBehind([vector, index]: readonly MoveValue[]): number {
  const { items } = asVector(referent(given(vector)));
  return Math.max(0, items.length - 1 - Number(asInteger(given(index)).value));
}

/** The transaction's context as code sees it: the sender, and the transaction's digest. */
export function contextValue(sender: string, digest: Uint8Array): MoveValue {
  return { kind: "struct", fields: [sender, bytesValue(digest)] };
}

/** A UID: a struct that holds an ID, a struct that holds an address. */
export function uid(address: string): MoveValue {
  return { kind: "struct", fields: [{ kind: "struct", fields: [address] }] };
}

function innerOf(id: MoveValue | undefined): MoveValue {
  return given(asStruct(referent(given(id))).fields[0]);
}

function option(items: MoveValue[]): MoveValue {
  return { kind: "struct", fields: [{ kind: "vector", items }] };
}

function given<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new MovePrimitiveError("an argument is missing");
  return value;
}

function abortIn(module: string, name: string, code: bigint): MoveAbortError {
  return new MoveAbortError(code, { address: STANDARD, module, function: name, functionIndex: 0, instruction: 0 });
}
