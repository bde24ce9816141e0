/** The question that key servers put to the chain: may this address have the keys of these identities? */
import { isError } from "@coffer/contract";
import type { SuiClientTypes } from "@mysten/sui/client";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Transaction } from "@mysten/sui/transactions";
import { toHex } from "@mysten/sui/utils";
import { CLOCK } from "../clock.ts";
import { ABORT_CODES, FUNCTIONS, MODULE } from "../package/names.ts";

/** One identity of a vault's keys. */
export interface Approval {
  readonly vault: Uint8Array;
  readonly identity: Uint8Array;
}

/** The facts about a vault object in a question, besides its id. */
export interface VaultLocation {
  /** The version in which it was shared; it never changes, so it can be kept with the vault. */
  readonly initialSharedVersion: bigint;
  /** The caller's place in the list of members, as far as it is known: a wrong one costs gas, and changes no answer. */
  readonly at: bigint;
}

export interface VaultObjects {
  locate(vault: Uint8Array): Promise<VaultLocation>;
}

/** Names every input in full, so that building it asks nobody. */
export async function buildApproval(
  packageId: string,
  approvals: readonly Approval[],
  vaultObjects: VaultObjects,
): Promise<Transaction> {
  const transaction = new Transaction();
  for (const { vault, identity } of approvals) {
    const { initialSharedVersion, at } = await vaultObjects.locate(vault);
    const object = {
      objectId: `0x${toHex(vault)}`,
      initialSharedVersion: initialSharedVersion.toString(),
      mutable: false,
    };
    transaction.moveCall({
      target: `${packageId}::${MODULE}::${FUNCTIONS.sealApprove}`,
      arguments: [
        transaction.pure.vector("u8", [...identity]),
        transaction.sharedObjectRef(object),
        transaction.pure.u64(at),
        transaction.sharedObjectRef(CLOCK),
      ],
    });
  }
  return transaction;
}

/** Our own chain node's answer to the same question. */
export type ApprovalVerdict =
  | "granted"
  /** The address is neither owner nor member. */
  | "refused"
  /** It was a member, whose end has come. */
  | "ended"
  /** The vault is younger here than the key. */
  | "later_place"
  | "vault_missing"
  /** More than any transaction may compute, in one piece. */
  | "too_costly"
  /** The package refuses for a reason that a well-formed question does not have. */
  | "malformed";

/** The node's verdict, and the simulation's cost: in MIST, null if it did not come to its end. */
export interface ApprovalOpinion {
  readonly verdict: ApprovalVerdict;
  readonly cost: bigint | null;
}

/**
 * Costs the caller nothing: checks that would ask for gas are off. Its result decides how many keys are asked for at
 * once, and a sentence in an error.
 *
 * @throws the client's errors when the node does not answer.
 */
export async function simulateApproval(
  client: SuiGrpcClient,
  caller: string,
  transaction: Transaction,
): Promise<ApprovalOpinion> {
  const question = Transaction.from(transaction);
  question.setSender(caller);
  const result = await client.core
    .simulateTransaction({ transaction: question, checksEnabled: false, include: { effects: true } })
    .catch((error: unknown) => missingObject(error));
  if (result === "vault_missing") return { verdict: result, cost: null };
  if (result.$kind === "Transaction")
    return { verdict: "granted", cost: BigInt(result.Transaction.effects.gasUsed.computationCost) };
  return { verdict: verdictOf(result.FailedTransaction.status), cost: null };
}

function verdictOf(status: SuiClientTypes.ExecutionStatus): ApprovalVerdict {
  if (status.success) return "malformed";
  // The client has no kind of its own for it.
  if (/insufficient ?gas/i.test(status.error.message)) return "too_costly";
  const code = status.error.MoveAbort?.abortCode ?? null;
  if (code === String(ABORT_CODES.ENoAccess)) return "refused";
  if (code === String(ABORT_CODES.EEnded)) return "ended";
  if (code === String(ABORT_CODES.ELaterGeneration) || code === String(ABORT_CODES.ELaterEnd)) return "later_place";
  return "malformed";
}

/** The node answers NOT_FOUND for an input object that is not there. */
function missingObject(error: unknown): "vault_missing" {
  const isMissing = isError(error) && "code" in error && error.code === "NOT_FOUND";
  if (isMissing) return "vault_missing";
  throw error;
}
