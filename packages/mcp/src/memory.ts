/** What a server remembers about one credential, over all of its connections. */
import { createConfirmations, type Confirmations } from "./confirmations.ts";
import { createTransfers, type Transfers } from "./transfers.ts";

export interface Memory {
  /** Calls under way. */
  readonly activity: { calls: number };
  readonly transfers: Transfers;
  readonly confirmations: Confirmations;
  /**
   * Whether text that others wrote went into a conversation: a name is enough. From then on a person agrees before
   * anything leads out of the account: the text may be what asks for it.
   */
  readonly taint: { isTainted: boolean };
  /** Vaults of other accounts into which the user agreed to write. */
  readonly agreedVaults: Set<string>;
}

export function createMemory(): Memory {
  return {
    activity: { calls: 0 },
    transfers: createTransfers(),
    confirmations: createConfirmations(),
    taint: { isTainted: false },
    agreedVaults: new Set(),
  };
}
