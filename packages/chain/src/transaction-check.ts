/** Checks the bytes before they are signed: a node fills in gas, and decides nothing else. */
import { bcs } from "@mysten/sui/bcs";
import { ChainError } from "./errors.ts";
import type { Expiration } from "./expiration.ts";

/**
 * The most a transaction may cost, in MIST (3.5 SUI). A node names budget and price, and the signer pays up to the
 * budget. The dearest act in the largest vault costs 2.56 SUI at a price of 1,000 MIST. The README of this package
 * lists the cost of each act.
 */
export const MAX_GAS_BUDGET = 3_500_000_000n;
const MIST_DIGITS = /^\d{1,20}$/;

/**
 * @param kind the wanted act: the bytes of the TransactionKind, made without the node.
 * @throws ChainError `transaction_refused` when the transaction does anything else, in another name, for longer, or at
 * another's cost.
 */
export function checkBuiltTransaction(
  bytes: Uint8Array,
  kind: Uint8Array,
  sender: string,
  expiration: Expiration,
): void {
  const built = parse(bytes);
  if (built.sender !== sender) throw refused("names another sender");
  if (!equal(bcs.TransactionKind.serialize(built.kind).toBytes(), kind)) throw refused("does something else");
  if (!equal(encodeExpiration(built.expiration), encodeExpiration(expiration)))
    throw refused("is valid at another time");
  const { owner, budget, payment } = built.gasData;
  if (owner !== sender) throw refused("is paid for by another address");
  if (!MIST_DIGITS.test(budget) || BigInt(budget) > MAX_GAS_BUDGET) throw refused("may cost more than 3.5 SUI");
  if (new Set(payment.map((coin) => coin.objectId)).size !== payment.length) throw refused("pays with one coin twice");
}

function parse(bytes: Uint8Array) {
  try {
    const parsed = bcs.TransactionData.parse(bytes);
    if (equal(bcs.TransactionData.serialize(parsed).toBytes(), bytes)) return parsed.V1;
  } catch (cause) {
    throw refused("cannot be read", cause);
  }
  throw refused("holds more than it says");
}

function encodeExpiration(expiration: typeof bcs.TransactionExpiration.$inferInput): Uint8Array {
  return bcs.TransactionExpiration.serialize(expiration).toBytes();
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

function refused(how: string, cause?: unknown): ChainError {
  return new ChainError("transaction_refused", {
    message: `The transaction that the chain node built ${how}. Nothing was signed; name another node.`,
    cause,
  });
}
