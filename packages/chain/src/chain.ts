/** A connection to one configured network. */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { NetworkConfiguration } from "./network.ts";

export interface ChainOptions {
  /** Carries the requests; a local chain in the same process hands one in. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds since the epoch. */
  readonly clock?: (() => number) | undefined;
}

export interface Chain {
  readonly network: NetworkConfiguration;
  readonly client: SuiGrpcClient;
  readonly clock: () => number;
}

/** Opens a connection. Nothing is sent before it is used. */
export function openChain(network: NetworkConfiguration, options: ChainOptions = {}): Chain {
  const client = new SuiGrpcClient({
    network: network.network,
    baseUrl: network.grpcUrl,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  return { network, client, clock: options.clock ?? Date.now };
}
