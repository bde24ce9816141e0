/** Which chain the service's node serves: any number of chains may have the same package id, and only one has the vault objects. */
import { ChainUnavailableError, OtherChainError } from "../../ports/chain.ts";

/** One for the life of a process, for all that reads through the node. */
export interface ChainPin {
  /**
   * The chain id that the node names.
   * @throws ChainUnavailableError when it names no chain, {@link OtherChainError} when it names another one.
   */
  check(chainId: string | undefined): void;
}

/** Digest of the genesis checkpoint, in base58. */
const CHAIN_ID = /^[1-9A-HJ-NP-Za-km-z]{32,64}$/;

/** @param configured null: the chain that the node names first. */
export function pinChain(configured: string | null): ChainPin {
  let pinned = configured;
  return {
    check: (chainId = "") => {
      if (!CHAIN_ID.test(chainId))
        throw new ChainUnavailableError("The chain's node does not say which chain it serves");
      pinned ??= chainId;
      if (chainId === pinned) return;
      const use = configured === null ? "has used the chain" : "uses the chain";
      const since = configured === null ? "since it started; SERVICE_CHAIN_ID sets another" : "(SERVICE_CHAIN_ID)";
      throw new OtherChainError(
        `The chain's node serves the chain ${chainId}, and this service ${use} ${pinned} ${since}`,
      );
    },
  };
}
