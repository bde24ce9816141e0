/** What each command of a programmable transaction does. */
import { fromBase64 } from "@mysten/bcs";
import { placeModule } from "../move/bytecode.ts";
import { encodeValue } from "../move/bcs-values.ts";
import { contextValue, uid } from "../move/framework.ts";
import type { Machine } from "../move/machine.ts";
import { readModule } from "../move/module.ts";
import { FRAMEWORK, type MoveType, parseType } from "../move/types.ts";
import { asInteger, asStruct, asVector, integer, type MoveValue } from "../move/values.ts";
import { badArgument, ExecutionFailure } from "./failures.ts";
import { findCallee } from "./callee.ts";
import { isCoin } from "./objects.ts";
import { type Slot, slotOf, type Slots } from "./slots.ts";
import type { Argument, Command, MoveCall } from "./transaction-form.ts";
import type { Workspace } from "./workspace.ts";

/** What is at hand while commands run. */
export interface Running {
  readonly workspace: Workspace;
  readonly slots: Slots;
  readonly machine: Machine;
  readonly sender: string;
}

/** What one command returned, for those who simulate. */
export interface CommandOutput {
  readonly returned: readonly Uint8Array[];
  readonly mutated: readonly { readonly argument: Argument; readonly bytes: Uint8Array }[];
}

const U64: MoveType = { kind: "integer", bits: 64 };
const ADDRESS: MoveType = { kind: "address" };
const MAX_U64 = (1n << 64n) - 1n;
/** UpgradeCap's policy "compatible". */
const COMPATIBLE = 0n;

/** Runs one command and keeps its results. */
export function runCommand(running: Running, command: Command): CommandOutput {
  const { results, mutated } = perform(running, command);
  running.slots.results.push([...results]);
  const { layouts } = running.workspace;
  const bytesOf = ({ box: [value], type }: Slot) =>
    value === undefined ? new Uint8Array() : encodeValue(value, type, layouts);
  return {
    returned: results.map(bytesOf),
    mutated: mutated.map(({ argument, slot }) => ({ argument, bytes: bytesOf(slot) })),
  };
}

interface Performed {
  readonly results: readonly Slot[];
  readonly mutated: readonly { readonly argument: Argument; readonly slot: Slot }[];
}

function perform(running: Running, command: Command): Performed {
  const only = (results: readonly Slot[]): Performed => ({ results, mutated: [] });
  switch (command.$kind) {
    case "MoveCall":
      return callMove(running, command.MoveCall);
    case "TransferObjects":
      transferObjects(running, command.TransferObjects.objects, command.TransferObjects.address);
      return only([]);
    case "SplitCoins":
      return only(splitCoins(running, command.SplitCoins.coin, command.SplitCoins.amounts));
    case "MergeCoins":
      mergeCoins(running, command.MergeCoins.destination, command.MergeCoins.sources);
      return only([]);
    case "MakeMoveVec":
      return only([makeVector(running, command.MakeMoveVec.type, command.MakeMoveVec.elements)]);
    case "Publish":
      return only([publish(running, command.Publish.modules)]);
    default:
      throw new ExecutionFailure("FEATURE_NOT_YET_SUPPORTED", `The local chain does not run ${command.$kind}.`);
  }
}

function callMove(running: Running, call: MoveCall): Performed {
  const { workspace, slots, machine, sender } = running;
  const { transactionDigest } = workspace;
  const callee = findCallee(workspace, call);
  const given = callee.parameters.length - (callee.takesContext ? 1 : 0);
  if (call.arguments.length !== given) {
    throw new ExecutionFailure(
      "ARITY_MISMATCH",
      `${callee.name} takes ${given} arguments, not ${call.arguments.length}.`,
    );
  }
  const values = call.arguments.map((argument, at) => slots.take(argument, callee.parameters[at] ?? ADDRESS, at));
  const mutated = call.arguments.flatMap((argument, at) => {
    const type = callee.parameters[at];
    if (type?.kind !== "reference" || !type.mutable) return [];
    return [{ argument, slot: slots.find(argument, type.to, at) }];
  });
  const context: readonly MoveValue[] = callee.takesContext ? [reference(contextValue(sender, transactionDigest))] : [];
  const returned = callee.run(machine, [...values, ...context]);
  return { results: returned.map((value, at) => slotOf(value, callee.returns[at] ?? ADDRESS)), mutated };
}

function reference(value: MoveValue): MoveValue {
  return { kind: "reference", box: [value], at: 0 };
}

function transferObjects({ slots, workspace }: Running, objects: readonly Argument[], address: Argument): void {
  const recipient = slots.take(address, ADDRESS, objects.length);
  if (typeof recipient !== "string") throw badArgument(objects.length, "TYPE_MISMATCH", "The recipient is no address.");
  for (const [at, argument] of objects.entries()) {
    const slot = slots.find(argument, null, at);
    const { key, store } = workspace.layouts.abilitiesOf(slot.type);
    if (!key || !store) {
      throw new ExecutionFailure(
        "INVALID_TRANSFER_OBJECT",
        "Only objects whose type has key and store are transferred.",
      );
    }
    const isGas = slot.object?.access === "gas";
    const value = isGas ? slot.box[0] : slots.take(argument, slot.type, at);
    if (value === undefined) throw badArgument(at, "ARGUMENT_WITHOUT_VALUE", "The gas coin was taken before.");
    if (isGas) workspace.giveGasCoin(recipient);
    else workspace.write(value, slot.type, { kind: "address", address: recipient });
  }
}

function splitCoins({ slots, workspace }: Running, argument: Argument, amounts: readonly Argument[]): Slot[] {
  const coin = findCoin(slots, argument, 0);
  return amounts.map((amount, at) => {
    const { value } = asInteger(slots.take(amount, U64, at + 1));
    const rest = coin.value - value;
    if (rest < 0n) throw new ExecutionFailure("INSUFFICIENT_COIN_BALANCE", "Insufficient coin balance for operation.");
    coin.value = rest;
    return slotOf(coinValue(workspace.freshId(), value), coin.type);
  });
}

function mergeCoins({ slots, workspace }: Running, destination: Argument, sources: readonly Argument[]): void {
  const coin = findCoin(slots, destination, 0);
  for (const [at, argument] of sources.entries()) {
    const source = slots.take(argument, coin.type, at + 1);
    const sum = coin.value + balanceIn(source).value;
    if (sum > MAX_U64) throw new ExecutionFailure("COIN_BALANCE_OVERFLOW", "The coin's balance overflows.");
    coin.value = sum;
    workspace.remove(source);
  }
}

/** A coin that is changed where it lies. */
function findCoin(slots: Slots, argument: Argument, at: number): { readonly type: MoveType; value: bigint } {
  const slot = slots.find(argument, null, at);
  if (!isCoin(slot.type)) throw badArgument(at, "TYPE_MISMATCH", "The argument is no coin.");
  // Refuses coins that may not be changed.
  slots.take(argument, { kind: "reference", mutable: true, to: slot.type }, at);
  const [coin] = slot.box;
  if (coin === undefined) throw badArgument(at, "ARGUMENT_WITHOUT_VALUE", "The coin was taken before.");
  const balance = asStruct(asStruct(coin).fields[1] ?? coin);
  return {
    type: slot.type,
    get value() {
      return balanceIn(coin).value;
    },
    set value(next: bigint) {
      balance.fields[0] = integer(64, next);
    },
  };
}

export function balanceIn(coin: MoveValue): { readonly value: bigint } {
  const balance = asStruct(coin).fields[1];
  return asInteger(asStruct(balance ?? coin).fields[0] ?? false);
}

export function coinValue(id: string, value: bigint): MoveValue {
  return { kind: "struct", fields: [uid(id), { kind: "struct", fields: [integer(64, value)] }] };
}

function makeVector({ slots, workspace }: Running, type: string | null, elements: readonly Argument[]): Slot {
  const [first] = elements;
  const element = type !== null ? parseType(type) : first === undefined ? null : slots.find(first, null, 0).type;
  if (element === null) {
    throw badArgument(0, "INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT", "The type of an empty vector must be named.");
  }
  workspace.layouts.abilitiesOf(element);
  const items = elements.map((argument, at) => slots.take(argument, element, at));
  return slotOf(asVector({ kind: "vector", items }), { kind: "vector", element });
}

/** Publishes the Coffer package and nothing else: there is no bytecode verifier here. Returns its UpgradeCap. */
function publish({ workspace }: Running, modules: readonly string[]): Slot {
  if (!workspace.isCofferPackage(modules)) {
    throw new ExecutionFailure(
      "SUI_MOVE_VERIFICATION_ERROR",
      "The local chain has no bytecode verifier: it publishes the committed Coffer package, byte for byte, and nothing else.",
    );
  }
  const id = workspace.freshId();
  workspace.writePackage(id, modules.map((module) => placeModule(fromBase64(module), id)).map(named));
  const cap: MoveValue = {
    kind: "struct",
    fields: [uid(workspace.freshId()), { kind: "struct", fields: [id] }, integer(64, 1n), integer(8, COMPATIBLE)],
  };
  return slotOf(cap, parseType(`${FRAMEWORK}::package::UpgradeCap`));
}

function named(bytes: Uint8Array) {
  const module = readModule(bytes);
  return { name: module.name, bytes, datatypes: [...module.datatypes.keys()] };
}
