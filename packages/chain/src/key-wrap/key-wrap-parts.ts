import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { NetworkConfiguration } from "../network.ts";
import type { TransactionSigner } from "../signer.ts";
import type { VaultObjects } from "./approval.ts";
import type { ReadCache } from "./read-cache.ts";
import type { KeyServerSessions } from "./key-server-session.ts";

/** The parts of one wrap. */
export interface KeyWrapParts {
  readonly client: SuiGrpcClient;
  readonly network: NetworkConfiguration;
  readonly signer: TransactionSigner;
  readonly vaultObjects: VaultObjects;
  readonly fetch: typeof fetch;
  readonly clock: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly timeout: number;
  /** Identities in one request to a key server. */
  readonly batch: number;
  readonly reads: ReadCache;
  readonly sessions: KeyServerSessions;
}
