/** A vault object as one node shows it. */
import { ChainError } from "./errors.ts";
import { findObject, type Node, readNodeState } from "./node.ts";
import type { Pins } from "./pins.ts";
import { parseVaultObject, type VaultObject } from "./vault-object.ts";

/** How far a node may lag, in milliseconds, and how far its time may be ahead of the machine's: ends of memberships go by it. */
export const LAG_MS = 30_000;

/** What a node said at one moment. */
export interface Sighting {
  /** null: the node has no such object. */
  readonly vault: VaultObject | null;
  /** The object's BCS, from which the vault was parsed. */
  readonly content: Uint8Array;
  /** Time of the node's newest checkpoint, in milliseconds since the epoch. */
  readonly asOf: number;
}

/** @throws ChainError `vault_changed`, `chain_stale`, `clock_skew`, `network_changed`, `chain_unavailable`. */
export async function findVaultAt(node: Node, pins: Pins, objectId: string): Promise<Sighting> {
  const [state, object] = await Promise.all([readNodeState(node), findObject(node, objectId, "content")]);
  pins.checkChain(state.chainId);
  checkLag(state.timestamp, node.clock());
  if (object === null) return { vault: null, content: NOTHING, asOf: state.timestamp };
  const content = object.content ?? NOTHING;
  const vault = parseVaultObject({ ...object, content }, node.network.originalPackageId, state.timestamp);
  // Acts name the vault that was read: a node that answers with another one would have the signer act on that.
  if (vault.objectId !== objectId)
    throw new ChainError("vault_changed", {
      message: `The chain node was asked for vault ${objectId} and answered with ${vault.objectId}. Nothing was signed; name another node.`,
    });
  return { vault, content, asOf: state.timestamp };
}

const NOTHING = new Uint8Array();

function checkLag(timestamp: number, now: number): void {
  const behind = Math.round((now - timestamp) / 1000);
  if (now - timestamp > LAG_MS)
    throw new ChainError("chain_stale", {
      message: `The chain node is ${behind} s behind this machine's clock. Check the clock, try again, or name another node.`,
    });
  if (timestamp - now > LAG_MS)
    throw new ChainError("clock_skew", {
      message: `The chain node's time is ${-behind} s ahead of this machine's clock. Set the clock, or name another node.`,
    });
}
