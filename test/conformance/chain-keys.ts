/** Chain keys that sign for the service under test. */
import type { ChainNetwork } from "@coffer/contract";
import { newChainKey, type ChainKey } from "../journeys/kit/chain.ts";

/** `network`: of the service; default: a local one on this machine, the main one elsewhere. */
export function chainKeysFor(baseUrl: string, network?: ChainNetwork): () => ChainKey {
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  return () => newChainKey(baseUrl, network ?? (isHere ? "localnet" : "mainnet"));
}
