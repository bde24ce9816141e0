/**
 * The programmable transaction by which a user asks for keys: a list of `seal_approve` calls, and nothing that could do or
 * learn more. The rules are those of Seal's key server (MystenLabs/seal `crates/key-server/src/valid_ptb.rs`).
 */
import { type BcsType } from "@mysten/bcs";
import { bcs } from "@mysten/sui/bcs";
import { KeyServerError } from "./key-server-error.ts";

const MAX_COMMANDS = 100;

export interface Approval {
  /** The package all calls go to, `0x` and 64 hex digits. */
  readonly packageId: string;
  /** The identities asked for, without the package id before them. */
  readonly innerIds: readonly Uint8Array[];
  /** BCS of the programmable transaction. */
  readonly bytes: Uint8Array;
}

type Transaction = ReturnType<typeof bcs.ProgrammableTransaction.parse>;
type Command = Transaction["commands"][number];

/** @throws KeyServerError `InvalidPTB`. */
export function parseApproval(bytes: Uint8Array): Approval {
  const { inputs, commands } = decodeTransaction(bytes);
  if (commands.length > MAX_COMMANDS) throw refuse(`Too many commands in PTB (more than ${MAX_COMMANDS})`);
  const [first] = commands;
  if (first === undefined || inputs.length === 0) throw refuse("Empty PTB input or command");
  const packageId = first.MoveCall?.package;
  if (packageId === undefined) throw refuse("Invalid first command");
  return { packageId, innerIds: commands.map((command) => parseCall(command, packageId, inputs)), bytes };
}

function decodeTransaction(bytes: Uint8Array): Transaction {
  return decodeWhole(bcs.ProgrammableTransaction, bytes) ?? raise("Invalid BCS");
}

function parseCall(command: Command, packageId: string, inputs: Transaction["inputs"]): Uint8Array {
  const call = command.MoveCall;
  if (call == null) throw refuse("Non MoveCall command");
  if (call.arguments.some((argument) => argument.$kind !== "Input")) throw refuse("Only pure inputs are allowed");
  const [first] = call.arguments;
  if (first?.$kind !== "Input") throw refuse("Empty args");
  const id = parseIdentity(inputs[first.Input]?.Pure?.bytes);
  if (!call.function.startsWith("seal_approve") || call.package !== packageId)
    throw refuse("Invalid function or package id");
  return id;
}

function parseIdentity(pure: string | undefined): Uint8Array {
  if (pure === undefined) throw refuse("Invalid first parameter for seal_approve");
  const id = decodeWhole(bcs.byteVector(), new Uint8Array(Buffer.from(pure, "base64")));
  return id ?? raise("Invalid BCS for first parameter for seal_approve");
}

/** Null unless the bytes are exactly one value: the parser does not mind what follows, a key server does. */
function decodeWhole<T, Input>(type: BcsType<T, Input>, bytes: Uint8Array): T | null {
  try {
    const value = type.parse(bytes);
    return Buffer.compare(type.serialize(value as unknown as Input).toBytes(), bytes) === 0 ? value : null;
  } catch {
    return null;
  }
}

function raise(why: string): never {
  throw refuse(why);
}

function refuse(why: string): KeyServerError {
  return new KeyServerError("InvalidPTB", `Invalid PTB: ${why}`);
}
