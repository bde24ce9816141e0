/** `sui.rpc.v2.TransactionExecutionService`: executing and simulating. */
import { GrpcTypes } from "@mysten/sui/grpc";
import type { CommandOutput } from "../chain/commands.ts";
import { MAX_GAS_BUDGET } from "../chain/gas.ts";
import type { Ledger } from "../chain/ledger.ts";
import { checkSigned, simulate, transactionDigest } from "../chain/node.ts";
import type { TransactionForm } from "../chain/transaction-form.ts";
import { RpcFailure } from "./grpc-web.ts";
import { type Methods, method, type Node } from "./method.ts";
import { executedMessage } from "./outcome-messages.ts";
import { masked } from "./read-mask.ts";
import { resolveTransaction, selectGas } from "./resolution.ts";
import { argumentMessage } from "./transaction-messages.ts";

const T = GrpcTypes;
const { DISABLED } = T.SimulateTransactionRequest_TransactionChecks;

export const EXECUTION_SERVICE: Methods = {
  ExecuteTransaction: method(T.ExecuteTransactionRequest, T.ExecuteTransactionResponse, async ({ ledger }, request) => {
    const bytes = request.transaction?.bcs?.value;
    if (bytes === undefined) throw new RpcFailure("INVALID_ARGUMENT", "the transaction must be sent in BCS");
    const signatures = request.signatures.map((signature) => signature.bcs?.value ?? new Uint8Array());
    const executed = await executeSigned(ledger, bytes, signatures);
    return { transaction: masked(T.ExecutedTransaction, executed, request.readMask, "effects.status,checkpoint") };
  }),
  SimulateTransaction: method(T.SimulateTransactionRequest, T.SimulateTransactionResponse, async (node, request) => {
    const outcome = await simulateRequest(node, request);
    const response = {
      transaction: executedMessage(outcome, node.view, null),
      commandOutputs: outcome.outputs.map(outputMessage),
    };
    return masked(T.SimulateTransactionResponse, response, request.readMask, "*");
  }),
};

/**
 * Executes a signed transaction. A repeat gets the earlier answer, and changes nothing.
 * @throws RefusedError when it is refused as a whole.
 */
export async function executeSigned(
  ledger: Ledger,
  bytes: Uint8Array,
  signatures: readonly Uint8Array[],
): Promise<GrpcTypes.ExecutedTransaction> {
  const { run } = await checkSigned(ledger, bytes, signatures);
  const known = ledger.readTransaction(transactionDigest(bytes));
  if (known !== null) return T.ExecutedTransaction.fromBinary(known);
  const outcome = run();
  const message = executedMessage(outcome, ledger, signatures);
  ledger.commit(outcome, T.ExecutedTransaction.toBinary(message));
  return message;
}

async function simulateRequest(node: Node, request: GrpcTypes.SimulateTransactionRequest) {
  if (request.transaction === undefined) throw new RpcFailure("INVALID_ARGUMENT", "there is no transaction");
  const checks = request.checks !== DISABLED;
  const resolved = resolveTransaction(node.view, request.transaction);
  if (!checks || request.doGasSelection !== true) {
    return simulate(node.view, withBudget(resolved), { checks });
  }
  if (resolved.gas.payment.length === 0) await node.fund(resolved.gas.owner);
  return simulate(node.view, selectGas(node.view, resolved), { checks });
}

/** A caller that names neither coins nor budget may spend all there is: an imaginary coin pays. */
function withBudget(form: TransactionForm): TransactionForm {
  const { budget, payment } = form.gas;
  if (budget > 0n || payment.length > 0) return form;
  return { ...form, gas: { ...form.gas, budget: MAX_GAS_BUDGET } };
}

function outputMessage({ returned, mutated }: CommandOutput): GrpcTypes.CommandResult {
  return {
    returnValues: returned.map((value) => ({ value: { value } })),
    mutatedByRef: mutated.map(({ argument, bytes }) => ({
      argument: argumentMessage(argument),
      value: { value: bytes },
    })),
  };
}
