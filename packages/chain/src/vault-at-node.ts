/** A vault object as one node shows it. */
import { ChainError } from "./errors.ts";
import { findObject, type Node, readNodeState } from "./node.ts";
import type { Pins } from "./pins.ts";
import { parseVaultObject, type VaultObject } from "./vault-object.ts";

/** How far a node may lag, in milliseconds, and how far its time may be ahead of the machine's: ends of memberships go by it. */
export const LAG_MS = 30_000;

/** A node's statement at one moment. */
export interface Sighting {
  /** null: the node has no such object. */
  readonly vault: VaultObject | null;
  /** The object's BCS, from which the vault was parsed. */
  readonly content: Uint8Array;
  /** Time of the node's newest checkpoint, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** @throws ChainError `vault_changed`, `clock_skew`, `network_changed`, `chain_unavailable`. */
export async function findVaultAt(node: Node, pins: Pins, objectId: string): Promise<Sighting> {
  const [state, object] = await Promise.all([readNodeState(node), findObject(node, objectId, "content")]);
  pins.checkChain(state.chainId);
  const skew = skewOf(state.timestamp, node.clock());
  if (skew !== null) throw skew;
  if (object === null) return { vault: null, content: NOTHING, asOf: state.timestamp };
  const content = object.content ?? NOTHING;
  const vault = parseVaultObject({ ...object, content }, node.network.originalPackageId, state.timestamp);
  // Acts name the vault that was read: with another one in the answer, the signer would act on that.
  if (vault.objectId !== objectId)
    throw new ChainError("vault_changed", {
      message: `The chain node was asked for vault ${objectId} and answered with ${vault.objectId}. Nothing was signed; name another node.`,
    });
  return { vault, content, asOf: state.timestamp };
}

const NOTHING = new Uint8Array();

/**
 * `clock_skew` with seconds and direction for a node's time that is not believed; null for one that is. Nobody can say
 * which clock is wrong.
 */
export function skewOf(timestamp: number, now: number): ChainError | null {
  const off = Math.abs(now - timestamp);
  if (off <= LAG_MS) return null;
  const seconds = Math.ceil(off / 1000);
  const [direction, otherwise] =
    now > timestamp
      ? ["ahead of", "If it is right, the node is late: try again, or name another node."]
      : ["behind", "If it is right, name another node."];
  return new ChainError("clock_skew", {
    message: `This machine's clock is ${seconds} s ${direction} the chain node's. Set it. ${otherwise}`,
  });
}
