/**
 * Completing the transactions of clients: which version of an object, whether a shared one is taken mutably, which coins
 * pay, and how much. What the SDK asks of SimulateTransaction before it signs.
 */
import { toBase64 } from "@mysten/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { findCallee } from "../chain/callee.ts";
import { MissingObjectError, RefusedError } from "../chain/failures.ts";
import { MAX_GAS_BUDGET, minimumBudget, netCost, REFERENCE_GAS_PRICE } from "../chain/gas.ts";
import { referencedId } from "../chain/inputs.ts";
import type { LedgerView } from "../chain/ledger.ts";
import { simulate } from "../chain/node.ts";
import { balanceOf, COIN_OF_SUI, type StoredObject } from "../chain/objects.ts";
import {
  type Argument,
  type CallArg,
  type Command,
  decodeTransaction,
  type Expiration,
  type TransactionForm,
} from "../chain/transaction-form.ts";
import { renderType } from "../move/types.ts";
import { given, readAddress, readCommand } from "./transaction-messages.ts";

const { Input_InputKind, TransactionExpiration_TransactionExpirationKind: Kind } = GrpcTypes;
const MAX_GAS_COINS = 256;

/** The transaction with its inputs complete; coins and budget as far as it names them. */
export function resolveTransaction(view: LedgerView, message: GrpcTypes.Transaction): TransactionForm {
  const bytes = message.bcs?.value;
  if (bytes !== undefined) return decodeTransaction(bytes);
  if (message.kind?.data.oneofKind !== "programmableTransaction") {
    throw new RefusedError("only programmable transactions can be simulated");
  }
  const { inputs, commands: messages } = message.kind.data.programmableTransaction;
  const commands = messages.map(readCommand);
  const sender = readAddress(message.sender ?? "0x0");
  const gas = message.gasPayment;
  return {
    sender,
    commands,
    inputs: inputs.map((input, at) => resolveInput(view, input, () => isTakenMutably(view, commands, at))),
    gas: {
      owner: gas?.owner === undefined ? sender : readAddress(gas.owner),
      price: gas?.price ?? REFERENCE_GAS_PRICE,
      budget: gas?.budget ?? 0n,
      payment: (gas?.objects ?? []).map(({ objectId, version, digest }) => ({
        objectId: readAddress(objectId),
        version: String(given(version)),
        digest: given(digest),
      })),
    },
    expiration: readExpiration(message.expiration),
  };
}

function resolveInput(view: LedgerView, input: GrpcTypes.Input, isMutable: () => boolean): CallArg {
  if (input.pure !== undefined) return { $kind: "Pure", Pure: { bytes: toBase64(input.pure) } };
  if (input.fundsWithdrawal !== undefined || input.literal !== undefined || input.kind === Input_InputKind.RECEIVING) {
    throw new RefusedError("the local chain takes bytes and objects as inputs", "UNIMPLEMENTED");
  }
  const objectId = readAddress(input.objectId);
  const stored = view.objects.get(objectId);
  if (stored === undefined) throw new MissingObjectError(objectId);
  // The client's value for an input stays, and is checked like in a signed transaction.
  const isShared = input.kind === undefined ? stored.owner.kind === "shared" : input.kind === Input_InputKind.SHARED;
  if (isShared) {
    const initial = stored.owner.kind === "shared" ? stored.owner.initialVersion : 0n;
    const initialSharedVersion = String(input.kind === undefined ? initial : (input.version ?? initial));
    const mutable = input.mutable ?? isMutable();
    const SharedObject = { objectId, initialSharedVersion, mutable };
    return { $kind: "Object", Object: { $kind: "SharedObject", SharedObject } };
  }
  const version = String(input.version ?? stored.version);
  const ImmOrOwnedObject = { objectId, version, digest: input.digest ?? stored.digest };
  return { $kind: "Object", Object: { $kind: "ImmOrOwnedObject", ImmOrOwnedObject } };
}

/** Taken by value or by `&mut` in any command. */
function isTakenMutably(view: LedgerView, commands: readonly Command[], input: number): boolean {
  const isIt = (argument: Argument | undefined) => argument?.$kind === "Input" && argument.Input === input;
  return commands.some((command) => {
    if (command.$kind !== "MoveCall") return argumentsOf(command).some(isIt);
    const { parameters } = findCallee(view, command.MoveCall);
    return command.MoveCall.arguments.some((argument, at) => {
      const type = parameters[at];
      return isIt(argument) && (type?.kind !== "reference" || type.mutable);
    });
  });
}

function argumentsOf(command: Command): readonly Argument[] {
  if (command.$kind === "TransferObjects") return command.TransferObjects.objects;
  if (command.$kind === "SplitCoins") return [command.SplitCoins.coin];
  if (command.$kind === "MergeCoins") return [command.MergeCoins.destination, ...command.MergeCoins.sources];
  return command.$kind === "MakeMoveVec" ? command.MakeMoveVec.elements : [];
}

function readExpiration(message: GrpcTypes.TransactionExpiration | undefined): Expiration {
  if (message?.kind === undefined || message.kind === Kind.NONE) return { $kind: "None", None: true };
  if (message.kind === Kind.EPOCH) return { $kind: "Epoch", Epoch: Number(given(message.epoch)) };
  if (message.kind !== Kind.VALID_DURING)
    throw new RefusedError("the local chain has no such expiration", "UNIMPLEMENTED");
  const text = (value: bigint | undefined) => (value === undefined ? null : String(value));
  const { minEpoch, epoch, chain, nonce } = message;
  const epochs = { minEpoch: text(minEpoch), maxEpoch: text(epoch), minTimestamp: null, maxTimestamp: null };
  return { $kind: "ValidDuring", ValidDuring: { ...epochs, chain: given(chain), nonce: given(nonce) } };
}

/**
 * Chooses budget and coins where the transaction names none.
 * @throws RefusedError when the owner's coins do not pay for it.
 */
export function selectGas(view: LedgerView, form: TransactionForm): TransactionForm {
  const budget = form.gas.budget > 0n ? form.gas.budget : estimateBudget(view, form);
  if (form.gas.payment.length > 0) return { ...form, gas: { ...form.gas, budget } };
  const used = new Set(form.inputs.map(referencedId));
  const coins = suiCoinsOf(view, form.gas.owner).filter((coin) => !used.has(coin.id));
  const chosen: StoredObject[] = [];
  let sum = 0n;
  for (const coin of coins.slice(0, MAX_GAS_COINS)) {
    if (sum >= budget) break;
    chosen.push(coin);
    sum += balanceOf(coin);
  }
  if (sum < budget) {
    throw new RefusedError(
      `Unable to perform gas selection due to insufficient SUI balance for account ${form.gas.owner} to satisfy required budget ${budget}.`,
    );
  }
  const payment = chosen.map(({ id, version, digest }) => ({ objectId: id, version: String(version), digest }));
  return { ...form, gas: { ...form.gas, payment, budget } };
}

/** What it costs at the largest budget, with some room: other transactions may come in between. */
function estimateBudget(view: LedgerView, form: TransactionForm): bigint {
  const gas = { ...form.gas, payment: [], budget: MAX_GAS_BUDGET };
  const { gasUsed } = simulate(view, { ...form, gas }, { checks: true });
  const room = 1_000n * form.gas.price + 2_000_000n;
  const net = netCost(gasUsed);
  const wanted = (net > gasUsed.computationCost ? net : gasUsed.computationCost) + room;
  const least = minimumBudget(form.gas.price);
  return wanted < least ? least : wanted > MAX_GAS_BUDGET ? MAX_GAS_BUDGET : wanted;
}

/** The largest first. */
export function suiCoinsOf(view: LedgerView, owner: string): StoredObject[] {
  const wanted = renderType(COIN_OF_SUI);
  return [...view.objects.values()]
    .filter(
      (object) =>
        object.owner.kind === "address" &&
        object.owner.address === owner &&
        object.data.kind === "move" &&
        renderType(object.data.type) === wanted,
    )
    .sort((a, b) => (balanceOf(a) < balanceOf(b) ? 1 : -1));
}
