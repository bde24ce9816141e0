/** A connection to one configured network. */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { NetworkConfiguration } from "./network.ts";
import type { Node } from "./node.ts";
import { boundedFetch } from "./node-fetch.ts";
import { openPins } from "./pins.ts";
import type { VaultObject } from "./vault-object.ts";
import { openVaultReader, type ReadOptions } from "./vault-reader.ts";

export interface ChainOptions {
  /** Carries the requests; a local chain in the same process brings its own. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. */
  readonly clock?: (() => number) | undefined;
  /** Resolves after that many milliseconds. */
  readonly wait?: ((milliseconds: number) => Promise<void>) | undefined;
}

/** Holds no resource: there is nothing to close. */
export interface Chain {
  readonly network: NetworkConfiguration;
  /** The unmodified client of @mysten/sui, over gRPC-web. */
  readonly client: SuiGrpcClient;
  readonly clock: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  /**
   * Compares the network with its configuration: chain id, and the package's modules byte for byte. Asks once.
   * @throws ChainError `network_changed`, `chain_unavailable`.
   */
  verifyNetwork(): Promise<void>;
  /**
   * Reads a vault object, from memory when that is at most 5 s old; from the node and every witness that the network
   * names otherwise.
   * @throws ChainError `vault_not_found`, `vault_changed`, `chain_stale`, `chain_disagrees`, `rolled_back`, and the
   * errors of {@link Chain.verifyNetwork}.
   */
  readVault(objectId: string, options?: ReadOptions): Promise<VaultObject>;
  /** The newest state that was shown to this chain of a vault, confirmed or not; null: none yet. */
  newestShown(objectId: string): VaultObject | null;
  /** Forgets what was shown of a vault before: its user says that it was not true. */
  forgetVault(objectId: string): void;
}

/** Opens a connection. It sends nothing before its first use. */
export function openChain(network: NetworkConfiguration, options: ChainOptions = {}): Chain {
  const node = connect(network, options);
  const pins = openPins(node);
  const witnesses = (network.witnessUrls ?? []).map((grpcUrl) => {
    const witness = connect({ ...network, grpcUrl }, options);
    return { node: witness, pins: openPins(witness) };
  });
  const { read, newestShown, forget } = openVaultReader(node, pins, undefined, witnesses);
  return { ...node, verifyNetwork: () => pins.verify(), readVault: read, newestShown, forgetVault: forget };
}

function connect(network: NetworkConfiguration, options: ChainOptions): Node {
  const fetch = boundedFetch(options.fetch);
  const client = new SuiGrpcClient({ network: network.network, baseUrl: network.grpcUrl, fetch });
  return { network, client, clock: options.clock ?? Date.now, wait: options.wait ?? sleep };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
