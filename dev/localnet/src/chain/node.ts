/** A full node's acts: executing signed transactions and simulating unsigned ones. */
import { toBase58 } from "@mysten/bcs";
import { RefusedError } from "./failures.ts";
import { type InputObject, loadGas, loadInputs } from "./inputs.ts";
import type { LedgerView } from "./ledger.ts";
import { hashOf, type StoredObject } from "./objects.ts";
import { executeTransaction, type Outcome } from "./outcome.ts";
import { decodeTransaction, encodeTransaction, type TransactionForm } from "./transaction-form.ts";
import { checkSignatures } from "./signatures.ts";

/** Base58, over TransactionData. */
export function transactionDigest(bytes: Uint8Array): string {
  return toBase58(hashOf("TransactionData", bytes));
}

/**
 * Checks a signed transaction against the view and runs it; what it did is in the outcome, and not on the chain yet.
 * @throws RefusedError when it is refused as a whole.
 */
export async function checkSigned(
  view: LedgerView,
  bytes: Uint8Array,
  signatures: readonly Uint8Array[],
): Promise<{ readonly form: TransactionForm; readonly run: () => Outcome }> {
  const form = decodeTransaction(bytes);
  await checkSignatures(form, bytes, signatures, view.epoch);
  const run = () => {
    checkExpiration(form, view);
    if (form.gas.payment.length === 0) {
      throw new RefusedError("the transaction names no gas coins; the local chain has no address balances");
    }
    const gasCoins = loadGas(view.objects, form);
    const inputs = loadInputs(view, form, form.sender);
    return executeTransaction(view, { form, digest: transactionDigest(bytes), inputs, gasCoins });
  };
  // Signatures are verified while other transactions run: everything about objects is checked in the same turn as it runs.
  return { form, run };
}

export interface SimulationOptions {
  /** Whether owners, gas price and budget are checked as for a real transaction. */
  readonly checks: boolean;
}

/** Runs without signatures. A transaction that names no coins is paid by an imaginary one. */
export function simulate(view: LedgerView, form: TransactionForm, { checks }: SimulationOptions): Outcome {
  const digest = transactionDigest(encodeTransaction(form));
  if (checks) checkExpiration(form, view);
  const gasCoins: StoredObject[] = checks ? loadGas(view.objects, form) : [];
  const inputs: (InputObject | null)[] = loadInputs(view, form, checks ? form.sender : null);
  return executeTransaction(view, { form, digest, inputs, gasCoins });
}

function checkExpiration({ expiration }: TransactionForm, { epoch, chainId, validEpochs }: LedgerView): void {
  if (expiration.$kind === "None") return;
  if (expiration.$kind === "Epoch") {
    if (expiration.Epoch < epoch) throw new RefusedError("Transaction Expired");
    return;
  }
  if (expiration.$kind === "Validity")
    throw new RefusedError("the local chain has no such expiration", "UNIMPLEMENTED");
  const during = expiration.ValidDuring;
  if (during.minTimestamp !== null || during.maxTimestamp !== null) {
    throw new RefusedError("the local chain has no expiration by time", "UNIMPLEMENTED");
  }
  if (during.chain !== chainId) throw new RefusedError("the transaction is for another chain");
  const [first, last] = [during.minEpoch, during.maxEpoch].map((text) => (text === null ? null : BigInt(text)));
  // Some networks take longer ones; what passes here passes everywhere.
  if (first == null || last == null || last < first || last > first + 1n)
    throw new RefusedError(
      "the transaction must be valid in one epoch or in two that follow each other",
      "UNIMPLEMENTED",
    );
  if (validEpochs === 1 && last !== first) throw new RefusedError("min_epoch must equal max_epoch", "UNIMPLEMENTED");
  if (last < epoch) throw new RefusedError("Transaction Expired");
  if (first > epoch) throw new RefusedError("the transaction is not valid yet");
}
