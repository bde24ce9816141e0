import { runInNewContext } from "node:vm";
import { SimulationError, type SuiClientTypes } from "@mysten/sui/client";
import { expect, it } from "vitest";
import { CHAIN_ERRORS, ChainError } from "./errors.ts";
import { ABORT_CODES } from "./package/index.ts";
import { findAbort, isUnreachable, toChainError } from "./transaction-errors.ts";

const PACKAGE = `0x${"ab".repeat(32)}`;
const ids = { originalPackageId: PACKAGE, latestPackageId: PACKAGE };

function abort(code: number | string, location: SuiClientTypes.MoveLocation = { package: PACKAGE, module: "vault" }) {
  const executionError = {
    $kind: "MoveAbort",
    message: "MoveAbort <said by the node>",
    MoveAbort: { abortCode: String(code), location },
  } as SuiClientTypes.ExecutionError;
  return new SimulationError("Transaction resolution failed <said by the node>", { executionError });
}

it("names every abort of the module", () => {
  const named = Object.values(ABORT_CODES).map((code) => toChainError(abort(code), ids).code);
  expect(named).toEqual([
    "not_owner",
    "not_a_member",
    "already_member",
    "is_owner",
    "members_full",
    "signing_key_invalid",
    "not_offered",
    "floor_invalid",
    "floor_invalid",
    "transaction_failed",
    "transaction_failed",
    "chain_stale",
    "not_a_member",
    "too_many_keys",
    "end_invalid",
    "membership_ended",
    "chain_stale",
    "act_outdated",
    "act_outdated",
  ]);
});

it("takes no abort of another package or module for one of ours, and no code that ours does not have", () => {
  const others = [
    abort(1, { package: `0x${"cd".repeat(32)}`, module: "vault" }),
    abort(1, { package: PACKAGE, module: "other" }),
    abort(1, {}),
    abort(0),
    abort(99),
    abort("18446744073709551615"),
    abort("1e0"),
  ];
  for (const other of others) {
    expect(findAbort(other.executionError, ids)).toBeNull();
    expect(toChainError(other, ids).code).toBe("transaction_failed");
  }
});

it("tells an address without gas", () => {
  for (const words of [
    "Cannot find gas coin for signer address 0x1 with amount sufficient for the required gas budget",
    "unable to select sufficient gas",
    "No valid gas coins found for the transaction.",
    "Unable to perform gas selection due to insufficient SUI balance",
    "Invalid gas payment: balance too low",
    "Balance of gas object 5 is lower than the needed amount: 10",
    "InsufficientGas",
  ])
    expect(toChainError(new Error(words), ids).code, words).toBe("no_gas");
});

it("tells a node that does not answer from one that refuses", () => {
  const coded = (code: string): Error => Object.assign(new Error("text"), { code });
  for (const lost of [
    new TypeError("fetch failed"),
    coded("UNAVAILABLE"),
    coded("DEADLINE_EXCEEDED"),
    coded("INTERNAL"),
  ]) {
    expect(isUnreachable(lost)).toBe(true);
    expect(isUnreachable(new Error("wrapped", { cause: lost }))).toBe(true);
    expect(toChainError(new Error("wrapped", { cause: lost }), ids).code).toBe("chain_unavailable");
  }
  for (const refusal of [coded("INVALID_ARGUMENT"), coded("NOT_FOUND"), new Error("text"), "text", null])
    expect(isUnreachable(refusal)).toBe(false);
});

it("knows the failures of a request from another realm, as test runners have them [issue 53]", () => {
  const foreign: unknown = runInNewContext(`new Error("wrapped", { cause: new TypeError("fetch failed") })`);
  expect(foreign).not.toBeInstanceOf(Error);
  expect(isUnreachable(foreign)).toBe(true);
  expect(toChainError(foreign, ids).code).toBe("chain_unavailable");
});

it("passes on its own errors, keeps the cause, and repeats no word of a node", () => {
  const own = new ChainError("chain_stale");
  expect(toChainError(own, ids)).toBe(own);
  const cause = abort(1);
  const error = toChainError(cause, ids);
  expect(error.cause).toBe(cause);
  expect(error.message).toBe(CHAIN_ERRORS.not_owner);
  expect(toChainError(new Error("<said by the node>"), ids).message).not.toContain("said by the node");
});

it("says what to do in every message", () => {
  for (const message of Object.values(CHAIN_ERRORS)) expect(message).toMatch(/^[A-Z].+\.$/);
});
