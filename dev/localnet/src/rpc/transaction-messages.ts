/** Transactions between their chain form and `sui.rpc.v2.Transaction`, resolved and unresolved. */
import { fromBase64, toBase64 } from "@mysten/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { isValidSuiAddress, normalizeSuiAddress } from "@mysten/sui/utils";
import { RefusedError } from "../chain/failures.ts";
import type { Argument, CallArg, Command, Expiration, TransactionForm } from "../chain/transaction-form.ts";

const { Argument_ArgumentKind, Input_InputKind, TransactionExpiration_TransactionExpirationKind: Kind } = GrpcTypes;

export function transactionMessage(form: TransactionForm, bcs: Uint8Array, digest: string): GrpcTypes.Transaction {
  const { sender, gas, inputs, commands } = form;
  return {
    bcs: { name: "TransactionData", value: bcs },
    digest,
    version: 1,
    kind: {
      kind: GrpcTypes.TransactionKind_Kind.PROGRAMMABLE_TRANSACTION,
      data: {
        oneofKind: "programmableTransaction",
        programmableTransaction: { inputs: inputs.map(inputMessage), commands: commands.map(commandMessage) },
      },
    },
    sender,
    gasPayment: {
      objects: gas.payment.map(({ objectId, version, digest: of }) => ({
        objectId,
        version: BigInt(version),
        digest: of,
      })),
      owner: gas.owner,
      price: gas.price,
      budget: gas.budget,
    },
    expiration: expirationMessage(form.expiration),
  };
}

function expirationMessage(expiration: Expiration): GrpcTypes.TransactionExpiration {
  if (expiration.$kind === "None") return { kind: Kind.NONE };
  if (expiration.$kind === "Epoch") return { kind: Kind.EPOCH, epoch: BigInt(expiration.Epoch) };
  const during = expiration.$kind === "ValidDuring" ? expiration.ValidDuring : expiration.Validity;
  const message: GrpcTypes.TransactionExpiration = {
    kind: Kind.VALID_DURING,
    chain: during.chain,
    nonce: during.nonce,
  };
  if (during.minEpoch !== null) message.minEpoch = BigInt(during.minEpoch);
  if (during.maxEpoch !== null) message.epoch = BigInt(during.maxEpoch);
  return message;
}

function inputMessage(input: CallArg): GrpcTypes.Input {
  if (input.$kind === "Pure") return { kind: Input_InputKind.PURE, pure: fromBase64(input.Pure.bytes) };
  if (input.$kind !== "Object") throw new RefusedError(`the local chain has no ${input.$kind}`, "UNIMPLEMENTED");
  const { Object: argument } = input;
  if (argument.$kind === "SharedObject") {
    const { objectId, initialSharedVersion, mutable } = argument.SharedObject;
    return { kind: Input_InputKind.SHARED, objectId, version: BigInt(initialSharedVersion), mutable };
  }
  const isReceiving = argument.$kind === "Receiving";
  const { objectId, version, digest } = isReceiving ? argument.Receiving : argument.ImmOrOwnedObject;
  const kind = isReceiving ? Input_InputKind.RECEIVING : Input_InputKind.IMMUTABLE_OR_OWNED;
  return { kind, objectId, version: BigInt(version), digest };
}

export function argumentMessage(argument: Argument): GrpcTypes.Argument {
  if (argument.$kind === "GasCoin") return { kind: Argument_ArgumentKind.GAS };
  if (argument.$kind === "Input") return { kind: Argument_ArgumentKind.INPUT, input: argument.Input };
  if (argument.$kind === "Result") return { kind: Argument_ArgumentKind.RESULT, result: argument.Result };
  const [result, subresult] = argument.NestedResult;
  return { kind: Argument_ArgumentKind.RESULT, result, subresult };
}

function commandMessage(command: Command): GrpcTypes.Command {
  const all = (list: readonly Argument[]) => list.map(argumentMessage);
  switch (command.$kind) {
    case "MoveCall": {
      const { package: id, module, function: name, typeArguments, arguments: list } = command.MoveCall;
      const moveCall = { package: id, module, function: name, typeArguments, arguments: all(list) };
      return { command: { oneofKind: "moveCall", moveCall } };
    }
    case "TransferObjects": {
      const { objects, address } = command.TransferObjects;
      const transferObjects = { objects: all(objects), address: argumentMessage(address) };
      return { command: { oneofKind: "transferObjects", transferObjects } };
    }
    case "SplitCoins": {
      const { coin, amounts } = command.SplitCoins;
      return {
        command: { oneofKind: "splitCoins", splitCoins: { coin: argumentMessage(coin), amounts: all(amounts) } },
      };
    }
    case "MergeCoins": {
      const { destination, sources } = command.MergeCoins;
      const mergeCoins = { coin: argumentMessage(destination), coinsToMerge: all(sources) };
      return { command: { oneofKind: "mergeCoins", mergeCoins } };
    }
    case "MakeMoveVec": {
      const { type, elements } = command.MakeMoveVec;
      const makeMoveVector = { ...(type === null ? {} : { elementType: type }), elements: all(elements) };
      return { command: { oneofKind: "makeMoveVector", makeMoveVector } };
    }
    case "Publish": {
      const modules = command.Publish.modules.map((module) => fromBase64(module));
      return { command: { oneofKind: "publish", publish: { modules, dependencies: command.Publish.dependencies } } };
    }
    default:
      throw new RefusedError(`the local chain does not run ${command.$kind}`, "UNIMPLEMENTED");
  }
}

/** Reads commands. Throws {@link RefusedError} for what is missing or not run here. */
export function readCommand({ command }: GrpcTypes.Command): Command {
  switch (command.oneofKind) {
    case "moveCall": {
      const { package: id, module, function: name, typeArguments, arguments: list } = command.moveCall;
      const called = { package: readAddress(id), module: given(module), function: given(name), typeArguments };
      return { $kind: "MoveCall", MoveCall: { ...called, arguments: list.map(readArgument) } };
    }
    case "transferObjects": {
      const { objects, address } = command.transferObjects;
      const transfer = { objects: objects.map(readArgument), address: readArgument(given(address)) };
      return { $kind: "TransferObjects", TransferObjects: transfer };
    }
    case "splitCoins": {
      const { coin, amounts } = command.splitCoins;
      return {
        $kind: "SplitCoins",
        SplitCoins: { coin: readArgument(given(coin)), amounts: amounts.map(readArgument) },
      };
    }
    case "mergeCoins": {
      const { coin, coinsToMerge } = command.mergeCoins;
      const merge = { destination: readArgument(given(coin)), sources: coinsToMerge.map(readArgument) };
      return { $kind: "MergeCoins", MergeCoins: merge };
    }
    case "makeMoveVector": {
      const { elementType, elements } = command.makeMoveVector;
      return { $kind: "MakeMoveVec", MakeMoveVec: { type: elementType ?? null, elements: elements.map(readArgument) } };
    }
    case "publish": {
      const { modules, dependencies } = command.publish;
      const ids = dependencies.map(readAddress);
      return { $kind: "Publish", Publish: { modules: modules.map((module) => toBase64(module)), dependencies: ids } };
    }
    default:
      throw new RefusedError(
        `the local chain does not run ${command.oneofKind ?? "an empty command"}`,
        "UNIMPLEMENTED",
      );
  }
}

function readArgument({ kind, input, result, subresult }: GrpcTypes.Argument): Argument {
  if (kind === Argument_ArgumentKind.GAS) return { $kind: "GasCoin", GasCoin: true };
  if (kind === Argument_ArgumentKind.INPUT) return { $kind: "Input", Input: given(input) };
  if (kind !== Argument_ArgumentKind.RESULT) throw new RefusedError("an argument has no kind");
  if (subresult === undefined) return { $kind: "Result", Result: given(result) };
  return { $kind: "NestedResult", NestedResult: [given(result), subresult] };
}

/** The address with all its digits. */
export function readAddress(text: string | undefined): string {
  const address = normalizeSuiAddress(given(text));
  if (isValidSuiAddress(address)) return address;
  throw new RefusedError("invalid address");
}

export function given<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new RefusedError("the transaction lacks a field that it needs");
  return value;
}
