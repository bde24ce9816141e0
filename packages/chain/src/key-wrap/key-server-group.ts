/** The key servers of one accepted set, as SealClient sees them, compared with the pinned ones. */
import {
  InvalidClientOptionsError,
  InvalidKeyServerError,
  InvalidKeyServerVersionError,
  SealClient,
  type SealCompatibleClient,
} from "@mysten/seal";
import { ObjectError } from "@mysten/sui/client";
import { toBase64 } from "@mysten/sui/utils";
import { ChainError } from "../errors.ts";
import type { KeyServer, KeyServerSet, NetworkConfiguration } from "../network.ts";
import { OutcomeRecorder } from "./outcomes.ts";

export interface KeyServerGroup {
  readonly set: KeyServerSet;
  /** A client for this group only: it keeps every user key for ever, so it ends with one call. */
  readonly seal: SealClient;
  readonly outcomes: OutcomeRecorder;
  /** By object id: the address of each server. */
  readonly urls: ReadonlyMap<string, string>;
}

export interface GroupOptions {
  readonly client: SealCompatibleClient;
  readonly fetch: typeof fetch;
  /** Milliseconds one request to a key server may take. */
  readonly timeout: number;
  /** How many keys are asked for at once. */
  readonly keys: number;
  /** Only the local net's key servers may do without TLS: the address is on the chain, and API keys go there. */
  readonly network: NetworkConfiguration["network"];
}

/** @throws ChainError `network_changed` when a key server on the chain is not the pinned one; `chain_unavailable`. */
export async function openKeyServers(set: KeyServerSet, options: GroupOptions): Promise<KeyServerGroup> {
  const outcomes = new OutcomeRecorder(options.fetch, options.keys);
  const seal = new SealClient({
    suiClient: options.client,
    serverConfigs: set.servers.map(({ objectId, weight, aggregatorUrl, apiKeyName, apiKey }) => ({
      objectId,
      weight,
      ...(aggregatorUrl === undefined ? {} : { aggregatorUrl }),
      ...(apiKeyName === undefined || apiKey === undefined ? {} : { apiKeyName, apiKey }),
    })),
    // The keys are pinned, and each answer is checked against them. If it asked the servers as well, one that is down
    // would stop all.
    verifyKeyServers: false,
    timeout: options.timeout,
    fetch: outcomes.fetch,
  });
  const servers = await seal.getKeyServers().catch((error: unknown) => {
    throw explainReading(error);
  });
  const urls = new Map<string, string>();
  for (const server of set.servers) {
    const onChain = servers.get(server.objectId);
    if (onChain === undefined || toBase64(onChain.pk) !== server.publicKey) throw changed(server, "public key");
    if (!onChain.url.startsWith("https://") && options.network !== "localnet") throw changed(server, "kind of address");
    urls.set(server.objectId, onChain.url);
  }
  return { set, seal, outcomes, urls };
}

/** "key server 2 of 3 (0x1234…cdef)": the configuration's words, never the server's own. */
export function nameKeyServer(set: KeyServerSet, { objectId }: Pick<KeyServer, "objectId">): string {
  const place = set.servers.findIndex((server) => server.objectId === objectId) + 1;
  return `key server ${place} of ${set.servers.length} (${objectId.slice(0, 6)}…${objectId.slice(-4)})`;
}

function changed({ objectId }: KeyServer, what: string): ChainError {
  return new ChainError("network_changed", {
    message: `Key server ${objectId} has another ${what} on the chain than the network configuration allows. Nothing was sent to it; check the configuration.`,
  });
}

function explainReading(error: unknown): ChainError {
  const isOther =
    error instanceof InvalidClientOptionsError ||
    error instanceof InvalidKeyServerError ||
    error instanceof InvalidKeyServerVersionError ||
    (error instanceof ObjectError && error.reason === "notFound");
  if (!isOther) return new ChainError("chain_unavailable", { cause: error });
  const message =
    "A key server on the chain is not as the network configuration names it. Nothing was sent to it; check the configuration.";
  return new ChainError("network_changed", { message, cause: error });
}
