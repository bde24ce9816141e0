/** How the chain says no: before execution (nothing happens), or during it (only gas is paid). */
import type { CodeLocation } from "../move/errors.ts";

/** The transaction is refused as a whole: gRPC INVALID_ARGUMENT unless said otherwise. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly status: "INVALID_ARGUMENT" | "NOT_FOUND" | "UNIMPLEMENTED";

  constructor(message: string, status: RefusedError["status"] = "INVALID_ARGUMENT") {
    super(message);
    this.status = status;
  }
}

/** An input object that is not there, or not yet. */
export class MissingObjectError extends RefusedError {
  readonly objectId: string;

  constructor(objectId: string) {
    super(`Object ${objectId} not found`, "NOT_FOUND");
    this.objectId = objectId;
  }
}

/** Kinds of failed execution, by the names of `sui.rpc.v2.ExecutionError`. */
export type FailureKind =
  | "INSUFFICIENT_GAS"
  | "FEATURE_NOT_YET_SUPPORTED"
  | "OBJECT_TOO_BIG"
  | "INSUFFICIENT_COIN_BALANCE"
  | "COIN_BALANCE_OVERFLOW"
  | "SUI_MOVE_VERIFICATION_ERROR"
  | "MOVE_PRIMITIVE_RUNTIME_ERROR"
  | "MOVE_ABORT"
  | "VM_INVARIANT_VIOLATION"
  | "FUNCTION_NOT_FOUND"
  | "ARITY_MISMATCH"
  | "TYPE_ARITY_MISMATCH"
  | "NON_ENTRY_FUNCTION_INVOKED"
  | "COMMAND_ARGUMENT_ERROR"
  | "UNUSED_VALUE_WITHOUT_DROP"
  | "INVALID_TRANSFER_OBJECT";

/** Kinds of bad arguments, by the names of `sui.rpc.v2.CommandArgumentError`. */
export type ArgumentFailure =
  | "TYPE_MISMATCH"
  | "INVALID_BCS_BYTES"
  | "INVALID_USAGE_OF_PURE_ARGUMENT"
  | "INDEX_OUT_OF_BOUNDS"
  | "SECONDARY_INDEX_OUT_OF_BOUNDS"
  | "INVALID_RESULT_ARITY"
  | "INVALID_GAS_COIN_USAGE"
  | "INVALID_OBJECT_BY_VALUE"
  | "INVALID_OBJECT_BY_MUT_REF"
  | "CONSENSUS_OBJECT_OPERATION_NOT_ALLOWED"
  | "INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT"
  | "ARGUMENT_WITHOUT_VALUE";

/** Execution failed; what it did is undone. */
export class ExecutionFailure extends Error {
  override readonly name = "ExecutionFailure";
  readonly kind: FailureKind;
  /** Code of a Move abort. */
  readonly abort: { readonly code: bigint; readonly location: CodeLocation } | null;
  readonly argument: { readonly index: number; readonly kind: ArgumentFailure } | null;

  constructor(kind: FailureKind, message: string, details: Partial<Pick<ExecutionFailure, "abort" | "argument">> = {}) {
    super(message);
    this.kind = kind;
    this.abort = details.abort ?? null;
    this.argument = details.argument ?? null;
  }
}

export function badArgument(index: number, kind: ArgumentFailure, why: string): ExecutionFailure {
  return new ExecutionFailure("COMMAND_ARGUMENT_ERROR", `Invalid command argument at ${index}. ${why}`, {
    argument: { index, kind },
  });
}

/** In Sui's words, by which clients recognise it. */
export function insufficientGas(): ExecutionFailure {
  return new ExecutionFailure("INSUFFICIENT_GAS", "Insufficient Gas.");
}
