/**
 * How long a signed transaction is valid: a node, a crash or anybody else who holds one back must not have it executed
 * much later.
 */
import { isError } from "@coffer/contract";
import { bcs } from "@mysten/sui/bcs";
import { ChainError } from "./errors.ts";
import type { NetworkConfiguration } from "./network.ts";
import { type Node, readNodeState } from "./node.ts";

/** In the form of BCS and of the transaction builder of @mysten/sui. */
export interface Expiration {
  readonly ValidDuring: {
    /** Decimal. */
    readonly minEpoch: string;
    readonly maxEpoch: string;
    /** Nodes support no expiration by time (validity_check of sui-types, 2026). */
    readonly minTimestamp: null;
    readonly maxTimestamp: null;
    /** Base58: no other chain executes it. */
    readonly chain: string;
    readonly nonce: number;
  };
}

/** The parts for asking a node which epoch it is. */
export type EpochSource = Pick<Node, "client"> & { readonly network: Pick<NetworkConfiguration, "chainId"> };

/** In how many epochs a transaction is valid: two, if the network accepts that. */
export type Epochs = 1 | 2;

/**
 * Valid in this epoch and the next one, which is the longest window of current protocols: an epoch may end between
 * signing and executing. A node that names a later epoch than the chain's gets a transaction that the chain does not
 * execute yet. So the act fails at once.
 * @throws ChainError `network_changed`, `chain_unavailable`.
 */
export async function validNow(source: EpochSource, epochs: Epochs = 2): Promise<Expiration> {
  const epoch = await readEpoch(source);
  const maxEpoch = epoch + BigInt(epochs - 1);
  const [nonce = 0] = crypto.getRandomValues(new Uint32Array(1));
  return {
    ValidDuring: {
      minEpoch: String(epoch),
      maxEpoch: String(maxEpoch),
      minTimestamp: null,
      maxTimestamp: null,
      chain: source.network.chainId,
      nonce,
    },
  };
}

/**
 * Whether a node refuses two epochs: its protocol has windows of one only. Nodes say it in these words (validity_check
 * of sui-types).
 */
export function takesOneEpochOnly(refusal: unknown): boolean {
  for (let error = refusal; isError(error); error = error.cause)
    if (error.message.includes("min_epoch must equal max_epoch")) return true;
  return false;
}

/**
 * Whether no node will execute the transaction any more, by the epoch that a node names.
 * @throws ChainError as {@link validNow}.
 */
export async function isExpired(source: EpochSource, transaction: Uint8Array): Promise<boolean> {
  const { expiration } = bcs.TransactionData.parse(transaction).V1;
  const maxEpoch = expiration.$kind === "ValidDuring" ? expiration.ValidDuring.maxEpoch : null;
  return maxEpoch !== null && (await readEpoch(source)) > BigInt(maxEpoch);
}

async function readEpoch({ client, network }: EpochSource): Promise<bigint> {
  const { chainId, epoch } = await readNodeState({ client });
  if (chainId !== network.chainId) throw new ChainError("network_changed");
  return epoch;
}
