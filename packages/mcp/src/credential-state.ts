/** What a server remembers about one credential, over all of its connections. */
import { ConfirmationTokens } from "./confirmation-tokens.ts";
import { Transfers } from "./transfers.ts";

export class CredentialState {
  /** Calls under way. */
  readonly activity = { calls: 0 };
  readonly transfers = new Transfers();
  readonly confirmations = new ConfirmationTokens();
  /**
   * Whether text that others wrote went into a conversation: a name is enough. From then on a person agrees before
   * anything reaches somebody who is not of the account: the text may be what asks for it. Closed: content of a shared
   * vault, which the service cannot read, went into the conversation or onto this machine's disk. From then on the service is
   * somebody else, too.
   */
  readonly taint: { isTainted: boolean; isClosed: boolean };
  /** Readers of vaults, and the service, that the user agreed to: what `gate.ts` wrote down. */
  readonly agreed = new Set<string>();

  /** `isTainted`: what was shown before is not known. Default: nothing was. */
  constructor({ isTainted = false }: { readonly isTainted?: boolean } = {}) {
    this.taint = { isTainted, isClosed: false };
  }
}
