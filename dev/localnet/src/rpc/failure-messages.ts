/** Failed executions as `sui.rpc.v2.ExecutionStatus`, and as the status in the BCS of effects. */
import type { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import type { ExecutionFailure } from "../chain/failures.ts";
import type { Execution } from "../chain/executor.ts";
import type { FindModule } from "../move/layouts.ts";

type Failure = Execution["failure"];
type StatusInput = Extract<typeof bcs.TransactionEffects.$inferInput, { V2: unknown }>["V2"]["status"];

const { ExecutionError_ExecutionErrorKind, CommandArgumentError_CommandArgumentErrorKind } = GrpcTypes;

export function statusMessage(failure: Failure, findModule: FindModule): GrpcTypes.ExecutionStatus {
  if (failure === null) return { success: true };
  const { error, command } = failure;
  const message: GrpcTypes.ExecutionError = {
    description: describe(failure),
    kind: ExecutionError_ExecutionErrorKind[error.kind],
    errorDetails: detailsOf(error, findModule),
  };
  if (command !== null) message.command = BigInt(command);
  return { success: false, error: message };
}

function describe({ error, command }: NonNullable<Failure>): string {
  const where = command === null ? "" : ` in command ${command}`;
  if (error.abort === null) return `${error.message}${where}`;
  const { code, location } = error.abort;
  const { address, module, function: name, instruction } = location;
  return `MoveAbort${where}, abort code: ${code}, in '${address}::${module}::${name}' (instruction ${instruction})`;
}

function detailsOf(error: ExecutionFailure, findModule: FindModule): GrpcTypes.ExecutionError["errorDetails"] {
  if (error.argument !== null) {
    const { index, kind } = error.argument;
    const commandArgumentError = { argument: index, kind: CommandArgumentError_CommandArgumentErrorKind[kind] };
    return { oneofKind: "commandArgumentError", commandArgumentError };
  }
  if (error.abort === null) return { oneofKind: undefined };
  const { code, location } = error.abort;
  const abort: GrpcTypes.MoveAbort = {
    abortCode: code,
    location: {
      package: location.address,
      module: location.module,
      function: location.functionIndex,
      instruction: location.instruction,
      functionName: location.function,
    },
  };
  const clever = cleverError(code, findModule(location.address, location.module)?.json.constant_pool ?? []);
  return { oneofKind: "abort", abort: clever === null ? abort : { ...abort, cleverError: clever } };
}

interface Constant {
  readonly data: readonly number[];
}

/** An index or a code that is not there. */
const NONE_16 = 0xffffn;
const NONE_8 = 0xffn;

/**
 * The compiler's layout for the code of an `#[error]` constant. From the top it has version (4 bits: 8 or 12), 4
 * unused, the author's code (8) and line (16). Then come the indices of the constants that hold its name and its value
 * (16 each). Null for plain codes.
 */
function cleverError(code: bigint, constants: readonly Constant[]): GrpcTypes.CleverError | null {
  const part = (shift: bigint, none: bigint) => {
    const value = (code >> shift) & none;
    return value === none ? null : value;
  };
  const version = code >> 60n;
  if (version !== 0b1000n && version !== 0b1100n) return null;
  const [line, name, value] = [part(32n, NONE_16), part(16n, NONE_16), part(0n, NONE_16)];
  const errorCode = version === 0b1100n ? part(48n, NONE_8) : null;
  const textAt = (index: bigint | null) => (index === null ? null : textIn(constants[Number(index)]));
  const [constantName, rendered] = [textAt(name), textAt(value)];
  return {
    ...(errorCode === null ? {} : { errorCode }),
    ...(line === null ? {} : { lineNumber: line }),
    ...(constantName === null ? {} : { constantName, constantType: "vector<u8>" }),
    value: rendered === null ? { oneofKind: undefined } : { oneofKind: "rendered", rendered },
  };
}

/** Constants of errors are short byte strings: their length in one byte first. */
function textIn(constant: Constant | undefined): string | null {
  const [length, ...bytes] = constant?.data ?? [];
  return length === bytes.length ? Buffer.from(bytes).toString("utf8") : null;
}

const WITHOUT_DETAILS = {
  INSUFFICIENT_GAS: { InsufficientGas: true },
  FEATURE_NOT_YET_SUPPORTED: { FeatureNotYetSupported: true },
  OBJECT_TOO_BIG: { MoveObjectTooBig: { objectSize: 0n, maxObjectSize: 0n } },
  INSUFFICIENT_COIN_BALANCE: { InsufficientCoinBalance: true },
  COIN_BALANCE_OVERFLOW: { CoinBalanceOverflow: true },
  SUI_MOVE_VERIFICATION_ERROR: { SuiMoveVerificationError: true },
  MOVE_PRIMITIVE_RUNTIME_ERROR: { MovePrimitiveRuntimeError: null },
  MOVE_ABORT: { InvariantViolation: true },
  VM_INVARIANT_VIOLATION: { VMInvariantViolation: true },
  FUNCTION_NOT_FOUND: { FunctionNotFound: true },
  ARITY_MISMATCH: { ArityMismatch: true },
  TYPE_ARITY_MISMATCH: { TypeArityMismatch: true },
  NON_ENTRY_FUNCTION_INVOKED: { NonEntryFunctionInvoked: true },
  COMMAND_ARGUMENT_ERROR: { InvariantViolation: true },
  UNUSED_VALUE_WITHOUT_DROP: { UnusedValueWithoutDrop: { resultIdx: 0, secondaryIdx: 0 } },
  INVALID_TRANSFER_OBJECT: { InvalidTransferObject: true },
} as const;

/** The status in the BCS of effects. Bad arguments are all written as type mismatches there: the message has the kind. */
export function statusInBcs(failure: Failure): StatusInput {
  if (failure === null) return { Success: true };
  const { error, command } = failure;
  const at = command === null ? null : BigInt(command);
  if (error.abort !== null) {
    const { code, location } = error.abort;
    const { address, module, function: functionName, functionIndex, instruction } = location;
    const where = { module: { address, name: module }, function: functionIndex, instruction, functionName };
    return { Failure: { error: { MoveAbort: [where, code] }, command: at } };
  }
  if (error.argument !== null) {
    const argument = { argIdx: error.argument.index, kind: { TypeMismatch: true } } as const;
    return { Failure: { error: { CommandArgumentError: argument }, command: at } };
  }
  return { Failure: { error: WITHOUT_DETAILS[error.kind], command: at } };
}
