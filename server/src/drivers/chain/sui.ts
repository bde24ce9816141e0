/** The Sui chain over gRPC: reads vault objects with the unmodified client. */
import type { ChainConfig } from "../../config.ts";
import type { Chain } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { ChainUnavailableError } from "../../ports/chain.ts";

export function openSuiChain(_config: ChainConfig, _deps: { readonly clock: Clock }): Chain {
  return {
    readVault: () => Promise.reject(new ChainUnavailableError("not built yet")),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
