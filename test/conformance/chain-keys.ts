/** Chain keys that sign for the service under test. */
import { newChainKey, type ChainKey } from "../acceptance/kit/chain.ts";

/** The network that the service at this address is on, unless the caller says otherwise: a local one on this machine. */
export function chainKeysFor(baseUrl: string): () => ChainKey {
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  return () => newChainKey(baseUrl, local ? "localnet" : "mainnet");
}
