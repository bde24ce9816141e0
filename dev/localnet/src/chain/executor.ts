/** Executes one transaction against the objects it names. Pure: what it writes is in its outcome. */
import { fromBase58 } from "@mysten/bcs";
import { decodeValue, encodeValue } from "../move/bcs-values.ts";
import { MoveAbortError, MovePrimitiveError, OutOfGasError } from "../move/errors.ts";
import { frameworkFor } from "../move/framework.ts";
import type { FindModule, Layouts } from "../move/layouts.ts";
import { GasMeter } from "../move/gas-meter.ts";
import { Machine } from "../move/machine.ts";
import { UnknownTypeError } from "../move/types.ts";
import { MalformedCodeError } from "../move/values.ts";
import { type CommandOutput, coinValue, balanceIn, runCommand } from "./commands.ts";
import { ExecutionFailure, insufficientGas } from "./failures.ts";
import { unitsIn } from "./gas.ts";
import type { InputObject } from "./inputs.ts";
import { balanceOf, COIN_OF_SUI, type StoredObject } from "./objects.ts";
import { type Slot, Slots } from "./slots.ts";
import type { TransactionForm } from "./transaction-form.ts";
import { type EmittedEvent, Workspace } from "./workspace.ts";

/** What execution reads besides the transaction's own objects. */
export interface Packages {
  readonly findModule: FindModule;
  readonly layouts: Layouts;
  readonly isCofferPackage: (modules: readonly string[]) => boolean;
}

export interface ExecutionRequest {
  readonly form: TransactionForm;
  /** Base58. */
  readonly digest: string;
  readonly inputs: readonly (InputObject | null)[];
  /** Empty: a coin that is not there pays. */
  readonly gasCoins: readonly StoredObject[];
}

/** What the commands did, before gas is paid. */
export interface Execution {
  readonly workspace: Workspace;
  readonly failure: { readonly error: ExecutionFailure; readonly command: number | null } | null;
  readonly outputs: readonly CommandOutput[];
  readonly events: readonly EmittedEvent[];
  /** Units of computation. */
  readonly units: number;
  /** What the gas coin holds besides the budget; null when commands gave none of it away. */
  readonly gasRest: bigint;
}

/** What pays in a simulation that names no coins: one million SUI. */
const IMAGINARY_BALANCE = 10n ** 15n;
const IMAGINARY_COIN = `0x${"f".repeat(64)}`;

/** Runs the commands. A failure undoes what they did; the outcome then holds the inputs as they were. */
export function runCommands(packages: Packages, request: ExecutionRequest): Execution {
  const { form, digest } = request;
  const workspace = new Workspace({ ...packages, transactionDigest: fromBase58(digest) });
  const meter = new GasMeter(unitsIn(form.gas.budget, form.gas.price));
  const callFramework = frameworkFor(workspace, meter);
  const machine = new Machine({ findModule: packages.findModule, callFramework, gas: meter });
  const gas = gasSlot(request);
  const outputs: CommandOutput[] = [];
  let at: number | null = null;
  try {
    for (const input of request.inputs) if (input !== null) meter.chargeRead(input.stored.bcs.length);
    const inputs = request.inputs.map((input) => (input === null ? null : inputSlot(input, packages.layouts)));
    const slots = new Slots(form.inputs, inputs, gas, packages.layouts);
    for (const [index, command] of form.commands.entries()) {
      at = index;
      outputs.push(runCommand({ workspace, slots, machine, sender: form.sender }, command));
    }
    at = null;
    slots.checkDropped();
    for (const slot of inputs) if (slot !== null) settleInput(slot, workspace);
  } catch (error) {
    const undone = new Workspace({ ...packages, transactionDigest: fromBase58(digest) });
    for (const input of request.inputs) if (input !== null) keepInput(input, undone);
    const failure = { error: failureOf(error), command: at };
    return { workspace: undone, failure, outputs: [], events: [], units: meter.units, gasRest: restOf(request) };
  }
  const [coin] = gas.box;
  const gasRest = coin === undefined ? 0n : balanceIn(coin).value;
  return { workspace, failure: null, outputs, events: workspace.events, units: meter.units, gasRest };
}

/** The coins' sum without the budget, which is set aside before anything runs. */
function restOf({ gasCoins, form }: ExecutionRequest): bigint {
  if (gasCoins.length === 0) return IMAGINARY_BALANCE;
  return gasCoins.reduce((sum, coin) => sum + balanceOf(coin), 0n) - form.gas.budget;
}

function gasSlot(request: ExecutionRequest): Slot {
  const [first] = request.gasCoins;
  const value = coinValue(first?.id ?? IMAGINARY_COIN, restOf(request));
  const object = first === undefined ? null : ({ stored: first, access: "gas" } as const);
  return { type: COIN_OF_SUI, box: [value], object };
}

function inputSlot({ stored, access }: InputObject, layouts: Layouts): Slot {
  if (stored.data.kind === "package") throw new ExecutionFailure("VM_INVARIANT_VIOLATION", "A package is no input.");
  const { type, contents } = stored.data;
  return { type, box: [decodeOpaquely(contents, type, layouts)], object: { stored, access } };
}

/** Types of packages that are not on this chain have no layout; their objects can be named, but nothing takes them. */
function decodeOpaquely(contents: Uint8Array, type: Slot["type"], layouts: Layouts) {
  try {
    return decodeValue(contents, type, layouts);
  } catch {
    throw new ExecutionFailure("FEATURE_NOT_YET_SUPPORTED", "The local chain cannot use objects of this type.");
  }
}

function settleInput({ type, box: [value], object }: Slot, workspace: Workspace): void {
  if (object === null) return;
  const { stored, access } = object;
  if (access === "immutable" || access === "shared-read" || workspace.written.has(stored.id)) return;
  if (value === undefined) workspace.removed.add(stored.id);
  else workspace.write(value, type, stored.owner);
}

/** Inputs that could have been written get the transaction's version, whatever happened. */
function keepInput({ stored, access }: InputObject, workspace: Workspace): void {
  if (access === "immutable" || access === "shared-read") return;
  workspace.written.set(stored.id, { id: stored.id, owner: stored.owner, data: stored.data });
}

function failureOf(error: unknown): ExecutionFailure {
  if (error instanceof ExecutionFailure) return error;
  if (error instanceof MoveAbortError) {
    const { code, location } = error;
    return new ExecutionFailure("MOVE_ABORT", error.message, { abort: { code, location } });
  }
  if (error instanceof MovePrimitiveError) return new ExecutionFailure("MOVE_PRIMITIVE_RUNTIME_ERROR", error.message);
  if (error instanceof OutOfGasError) return insufficientGas();
  if (error instanceof UnknownTypeError) return new ExecutionFailure("FEATURE_NOT_YET_SUPPORTED", `${error.message}.`);
  if (error instanceof MalformedCodeError) return new ExecutionFailure("VM_INVARIANT_VIOLATION", error.message);
  throw error;
}

/** The gas coin as it is after the transaction. */
export function gasCoinContents(coin: StoredObject, value: bigint, layouts: Layouts): Uint8Array {
  return encodeValue(coinValue(coin.id, value), COIN_OF_SUI, layouts);
}
