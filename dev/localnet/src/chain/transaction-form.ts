/** Transactions as the chain executes them. */
import { bcs } from "@mysten/sui/bcs";
import { RefusedError } from "./failures.ts";

export type CallArg = typeof bcs.CallArg.$inferType;
export type Command = typeof bcs.Command.$inferType;
export type Argument = typeof bcs.Argument.$inferType;
export type MoveCall = Extract<Command, { $kind: "MoveCall" }>["MoveCall"];
export type Expiration = typeof bcs.TransactionExpiration.$inferType;

export interface ObjectReference {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
}

export interface Programmable {
  readonly inputs: readonly CallArg[];
  readonly commands: readonly Command[];
}

export interface GasData {
  readonly payment: readonly ObjectReference[];
  readonly owner: string;
  readonly price: bigint;
  readonly budget: bigint;
}

export interface TransactionForm extends Programmable {
  readonly sender: string;
  readonly gas: GasData;
  readonly expiration: Expiration;
}

/** Larger ones are refused by real nodes as well. */
const MAX_TRANSACTION_BYTES = 128 * 1024;
const MAX_COMMANDS = 1024;
const MAX_INPUTS = 2048;

/** Decodes TransactionData. Throws {@link RefusedError} for bytes that are not its canonical form, or not programmable. */
export function decodeTransaction(bytes: Uint8Array): TransactionForm {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw new RefusedError("the transaction is too large");
  const { V1: data } = parseData(bytes);
  if (data.kind.$kind !== "ProgrammableTransaction") {
    throw new RefusedError("only programmable transactions can be sent by users");
  }
  const { payment, owner, price, budget } = data.gasData;
  return checkSize({
    ...data.kind.ProgrammableTransaction,
    sender: data.sender,
    gas: { payment, owner, price: BigInt(price), budget: BigInt(budget) },
    expiration: data.expiration,
  });
}

/** Decodes a ProgrammableTransaction: a TransactionKind without its first byte. */
export function decodeProgrammable(bytes: Uint8Array): Programmable {
  if (bytes.length > 4 * MAX_TRANSACTION_BYTES) throw new RefusedError("the transaction is too large");
  return checkSize(
    canonical(
      bytes,
      () => bcs.ProgrammableTransaction.parse(bytes),
      (value) => bcs.ProgrammableTransaction.serialize(value, OPTIONS).toBytes(),
    ),
  );
}

export function encodeTransaction(form: TransactionForm): Uint8Array {
  const { inputs, commands, sender, gas, expiration } = form;
  const data = bcs.TransactionData.serialize(
    {
      V1: {
        kind: { ProgrammableTransaction: { inputs: [...inputs], commands: [...commands] } },
        sender,
        gasData: { ...gas, payment: [...gas.payment] },
        expiration,
      },
    },
    OPTIONS,
  );
  return data.toBytes();
}

const OPTIONS = { maxSize: 16 * MAX_TRANSACTION_BYTES };

function parseData(bytes: Uint8Array) {
  return canonical(
    bytes,
    () => bcs.TransactionData.parse(bytes),
    (value) => bcs.TransactionData.serialize(value, OPTIONS).toBytes(),
  );
}

function canonical<Value>(bytes: Uint8Array, parse: () => Value, serialize: (value: Value) => Uint8Array): Value {
  try {
    const value = parse();
    if (Buffer.compare(serialize(value), bytes) === 0) return value;
  } catch (error) {
    throw new RefusedError(`invalid transaction: ${error instanceof Error ? error.message : "unreadable"}`);
  }
  throw new RefusedError("invalid transaction: the bytes are not its canonical form");
}

function checkSize<Form extends Programmable>(form: Form): Form {
  if (form.commands.length > MAX_COMMANDS) throw new RefusedError("the transaction has too many commands");
  if (form.inputs.length > MAX_INPUTS) throw new RefusedError("the transaction has too many inputs");
  return form;
}
