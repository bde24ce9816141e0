/** Builds, checks, signs, sends and awaits one transaction. */
import { isError } from "@coffer/contract";
import { TransactionDataBuilder, type Transaction } from "@mysten/sui/transactions";
import { SimulationError, type SuiClientTypes } from "@mysten/sui/client";
import { checkBuiltTransaction } from "./transaction-check.ts";
import { ChainError } from "./errors.ts";
import { type Epochs, type EpochSource, takesOneEpochOnly, validNow } from "./expiration.ts";
import { type Node, REQUEST_MS } from "./node.ts";
import { isUnreachable, type PackageIds, toChainError } from "./transaction-errors.ts";
import type { TransactionSigner } from "./signer.ts";
import { findEndedSignIn } from "./zklogin.ts";

/**
 * A transaction that you may send as often as you like: it is executed once, until it expires. It holds no secret, and
 * only its signer should keep it.
 */
export interface SignedTransaction {
  /** BCS of TransactionData. */
  readonly bytes: Uint8Array;
  /** Serialised as Sui does, base64. */
  readonly signature: string;
}

export interface ExecutionOptions {
  /**
   * Called with the transaction and its digest after it is signed and before it is sent. What it stores shows after a
   * crash whether the transaction was executed. The transaction is not sent if it rejects. It is called again, with
   * another digest, when a node refused the first transaction and another one was built.
   */
  readonly beforeSend?: ((digest: string, signed: SignedTransaction) => Promise<void>) | undefined;
}

/** The parts that send a transaction. The caller has compared the network with its configuration first. */
export interface Executor extends Pick<Node, "client" | "wait"> {
  readonly network: PackageIds & EpochSource["network"];
}

/** A node's answer about a transaction. Its digest is the one of the signed bytes, whatever the node says. */
export type Executed = SuiClientTypes.Transaction<{ effects: true }>;

/** Remarks for the caller about the act. */
export interface ActWarning {
  /**
   * `valid_one_epoch`: the network accepts transactions that are valid in one epoch only. If that had ended meanwhile,
   * you would have had to repeat the act. `former_nearly_full`: the vault has closed 1,500 entries of 1,800, and will
   * soon lose one that still counts.
   */
  readonly code: "valid_one_epoch" | "former_nearly_full";
  /** The remark in words for people. */
  readonly message: string;
}

const ONE_EPOCH: ActWarning = {
  code: "valid_one_epoch",
  message:
    "This network takes transactions that are valid in one epoch only. Repeat an act that fails because the epoch has ended.",
};

/** The transaction, and the remarks about it. */
export type ExecutedAct = Executed & { readonly warnings: readonly ActWarning[] };

const turns = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Work of one name at a time, in the order of the calls. */
export function inTurn<Result>({ client }: Pick<Executor, "client">, name: string, work: () => Promise<Result>) {
  const queue = turns.get(client) ?? new Map<string, Promise<unknown>>();
  turns.set(client, queue);
  const turn = (queue.get(name) ?? Promise.resolve()).then(work);
  const settled: Promise<unknown> = turn
    .catch(() => null)
    .then(() => {
      if (queue.get(name) === settled) queue.delete(name);
    });
  queue.set(name, settled);
  return turn;
}

/**
 * Resolves once the transaction is executed and the node shows its effects.
 * @throws ChainError: `transaction_unknown` when it was sent and no answer came; every other code means that nothing
 * changed.
 */
export function execute(
  chain: Executor,
  signer: TransactionSigner,
  transact: () => Transaction,
  options: ExecutionOptions = {},
): Promise<ExecutedAct> {
  // Two transactions of an address would pay with the same coin, and one of them would be refused.
  return inTurn(chain, signer.chainAddress, () => run(chain, signer, transact, options));
}

/** What a node may take to show a transaction that another one has executed, in milliseconds. */
const SHOWN_AFTER = [500, 1500];

/**
 * The transaction of a digest, or null when the node has none, asked three times.
 * @throws ChainError `chain_unavailable`.
 */
export async function findExecuted(chain: Executor, digest: string): Promise<Executed | null> {
  for (const delay of [...SHOWN_AFTER, null]) {
    const executed = await findShown(chain, digest);
    if (executed !== null || delay === null) return executed;
    await chain.wait(delay);
  }
  return null;
}

async function findShown(chain: Executor, digest: string): Promise<Executed | null> {
  try {
    const result = await chain.client.core.getTransaction({
      digest,
      include: { effects: true },
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    return { ...(result.Transaction ?? result.FailedTransaction), digest };
  } catch (cause) {
    if (isError(cause) && "reason" in cause && cause.reason === "notFound") return null;
    throw new ChainError("chain_unavailable", { cause });
  }
}

/** How often a transaction is built again: another program of the same address may have paid with the coin that was chosen. */
const BUILDS = 3;

async function run(
  chain: Executor,
  signer: TransactionSigner,
  transact: () => Transaction,
  { beforeSend }: ExecutionOptions,
): Promise<ExecutedAct> {
  for (let attempt = 1; ; attempt++) {
    const { bytes, warnings } = await buildToExpire(chain, signer.chainAddress, transact);
    const signature = await signer.signTransaction(bytes);
    const digest = TransactionDataBuilder.getDigestFromBytes(bytes);
    await beforeSend?.(digest, { bytes, signature });
    const executed = await send(chain, { bytes, signature }, digest);
    if (executed instanceof ChainError) await requireSignIn(chain, signature);
    if (executed instanceof ChainError && attempt < BUILDS && executed.code === "transaction_failed") {
      await chain.wait(400 * attempt);
      continue;
    }
    if (executed instanceof ChainError) throw executed;
    if (executed.status.success) return { ...executed, digest, warnings };
    throw toChainError(failureOf(executed.status.error), chain.network);
  }
}

/**
 * The same failure would refuse every further attempt.
 * @throws ChainError `sign_in_ended`.
 */
async function requireSignIn(chain: Executor, signature: string): Promise<void> {
  const ended = await findEndedSignIn(chain.client, signature);
  if (ended !== null) throw ended;
}

/** Valid in two epochs; in one where the network takes no more, with a warning. */
async function buildToExpire(
  chain: Executor,
  sender: string,
  transact: () => Transaction,
): Promise<{ readonly bytes: Uint8Array; readonly warnings: readonly ActWarning[] }> {
  try {
    return { bytes: await build(chain, sender, transact(), 2), warnings: [] };
  } catch (error) {
    if (!takesOneEpochOnly(error)) throw error;
    return { bytes: await build(chain, sender, transact(), 1), warnings: [ONE_EPOCH] };
  }
}

async function build(chain: Executor, sender: string, transaction: Transaction, epochs: Epochs): Promise<Uint8Array> {
  // Without a client: these are the requested bytes.
  const kind = await transaction.build({ onlyTransactionKind: true });
  const expiration = await validNow(chain, epochs);
  transaction.setSender(sender);
  transaction.setExpiration(expiration);
  const bytes = await transaction.build({ client: chain.client }).catch(async (cause: unknown) => {
    throw await namePoverty(chain, sender, toChainError(cause, chain.network));
  });
  checkBuiltTransaction(bytes, kind, sender, expiration);
  return bytes;
}

/** With less than this, in MIST (0.01 SUI), a refused transaction was refused for lack of it. */
const POOR = 10_000_000n;

/** A node says in its own words that an address cannot pay; its balance shows it too. */
async function namePoverty(chain: Executor, owner: string, error: ChainError): Promise<ChainError> {
  if (error.code !== "transaction_failed") return error;
  const balance = await chain.client.core.getBalance({ owner }).catch(() => null);
  return balance !== null && BigInt(balance.balance.balance) < POOR
    ? new ChainError("no_gas", { cause: error.cause })
    : error;
}

/** How often the same bytes are sent: they execute once, however many nodes receive them. */
const ATTEMPTS = 3;

/**
 * A refusal is returned: the transaction was not executed, and never will be.
 * @throws ChainError `transaction_unknown` when no answer came. Also when it was refused after a lost answer, and no
 * node shows it.
 */
export async function send(
  chain: Executor,
  { bytes, signature }: SignedTransaction,
  digest: string,
): Promise<Executed | ChainError> {
  let last: unknown;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const result = await chain.client.core.executeTransaction({
        transaction: bytes,
        signatures: [signature],
        include: { effects: true },
        signal: AbortSignal.timeout(2 * REQUEST_MS),
      });
      await awaitEffects(chain, digest);
      return { ...(result.Transaction ?? result.FailedTransaction), digest };
    } catch (cause) {
      if (!isUnreachable(cause))
        return last === undefined ? toChainError(cause, chain.network) : settle(chain, digest, cause);
      last = cause;
    }
    const executed = await findShown(chain, digest).catch(() => null);
    if (executed !== null) return executed;
    await chain.wait(500 * attempt);
  }
  throw new ChainError("transaction_unknown", { cause: last });
}

/**
 * The earlier sending may be the reason of the refusal: its coin and object are used up. Another transaction would do
 * the act twice.
 */
async function settle(chain: Executor, digest: string, refusal: unknown): Promise<Executed> {
  const executed = await findExecuted(chain, digest).catch(() => null);
  if (executed !== null) return executed;
  throw new ChainError("transaction_unknown", { cause: refusal });
}

/** The transaction was executed. If the node does not show it yet, the reader of the vault waits for it. */
async function awaitEffects(chain: Executor, digest: string): Promise<void> {
  await chain.client.core.waitForTransaction({ digest, timeout: REQUEST_MS }).catch(() => null);
}

function failureOf(executionError: SuiClientTypes.ExecutionError): SimulationError {
  return new SimulationError(executionError.message, { executionError });
}
