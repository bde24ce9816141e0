/** Why a transaction was refused, in our words: Move aborts and gas errors. */
import { isError } from "@coffer/contract";
import type { SuiClientTypes } from "@mysten/sui/client";
import { SimulationError } from "@mysten/sui/client";
import { ChainError, type ChainErrorCode } from "./errors.ts";
import type { NetworkConfiguration } from "./network.ts";
import { type AbortName, abortName, MODULE } from "./package/index.ts";

const CODE_OF: Readonly<Record<AbortName, ChainErrorCode>> = {
  ENotOwner: "not_owner",
  ENotMember: "not_a_member",
  EAlreadyMember: "already_member",
  EIsOwner: "is_owner",
  EMembersFull: "members_full",
  EBadSigningKey: "signing_key_invalid",
  ENotOffered: "not_offered",
  EFloorAboveGeneration: "floor_invalid",
  EFloorLowered: "floor_invalid",
  EBadIdentity: "transaction_failed",
  EOtherVault: "transaction_failed",
  ELaterGeneration: "chain_stale",
  ENoAccess: "not_a_member",
  ETooManyKeys: "too_many_keys",
  EBadEnd: "end_invalid",
  EEnded: "membership_ended",
  ELaterEnd: "chain_stale",
  ENotLast: "act_outdated",
  EOtherKey: "act_outdated",
};

export type PackageIds = Pick<NetworkConfiguration, "originalPackageId" | "latestPackageId">;

/** The constant with which the vault's module aborted; null for every other failure. */
export function findAbort(
  error: SuiClientTypes.ExecutionError | undefined,
  { originalPackageId, latestPackageId }: PackageIds,
): AbortName | null {
  const abort = error?.MoveAbort;
  const { location } = abort ?? {};
  if (abort === undefined || location?.module !== MODULE) return null;
  if (location.package !== originalPackageId && location.package !== latestPackageId) return null;
  return /^\d{1,9}$/.test(abort.abortCode) ? abortName(Number(abort.abortCode)) : null;
}

/** The failure of a transaction that was not executed, or was executed and aborted. */
export function toChainError(cause: unknown, network: PackageIds): ChainError {
  if (cause instanceof ChainError) return cause;
  const error = cause instanceof SimulationError ? cause.executionError : undefined;
  const abort = findAbort(error, network);
  if (abort !== null) return new ChainError(CODE_OF[abort], { cause });
  if (error !== undefined) return new ChainError(isGas(error.message) ? "no_gas" : "transaction_failed", { cause });
  if (isError(cause) && isGas(cause.message)) return new ChainError("no_gas", { cause });
  return new ChainError(isUnreachable(cause) ? "chain_unavailable" : "transaction_failed", { cause });
}

/** Nodes say it in words only: neither gRPC nor the SDK has a code for it. */
function isGas(message: string): boolean {
  return /sufficient\s*gas|gas (selection|coin|object|balance|payment)|insufficient (sui|coin) balance|InsufficientGas/i.test(
    message,
  );
}

/** gRPC status codes with which a node, or a proxy before it, says nothing about the transaction. */
const UNREACHABLE = /^(UNAVAILABLE|DEADLINE_EXCEEDED|CANCELLED|UNKNOWN|INTERNAL|RESOURCE_EXHAUSTED)$/;

/** Whether a request may have been lost on its way, or its answer on the way back. */
export function isUnreachable(cause: unknown): boolean {
  for (let error = cause; isError(error); error = error.cause) {
    if ("code" in error && typeof error.code === "string") return UNREACHABLE.test(error.code);
    if (error.name === "TypeError" || error.name === "TimeoutError") return true;
  }
  return false;
}
