/** Failures of the chain and the key servers, and what to do then. */

/** Every cause, with its sentence if no better one is known. */
export const CHAIN_ERRORS = {
  // Failures of reading and writing in shared vaults.
  not_a_member: "This address is not on the vault's allowlist. Ask the owner to add it.",
  membership_ended: "The membership of this address has ended. Ask the owner to add it again.",
  key_servers_unavailable: "Too few key servers answer. Try again later.",
  key_servers_behind: "The key servers have not seen the vault's latest change yet. Try again in two minutes.",
  wrong_chain_key: "The chain key does not belong to the address that is asked for. Use the key of that address.",
  sign_in_ended: "The zkLogin sign-in has ended. Sign in again; the address stays the same.",
  address_alias: "Key servers refuse addresses that have address aliases. Use an address without one.",
  clock_skew: "The clock of this machine is wrong. Set it, then try again.",
  chain_stale: "The chain node is too far behind to be believed. Try again, or name another node.",
  chain_unavailable: "The chain node does not answer. Try again later, or name another node.",
  chain_disagrees: "Two chain nodes show different states of the vault. Neither was believed; name another node.",
  network_changed: "The chain is not the one that was configured. Nothing was signed; check the network configuration.",
  vault_not_found: "There is no such vault object on this chain. Check its id and the network configuration.",
  vault_changed: "The vault is not the one that was pinned. Nothing was written; ask the owner what changed.",
  rolled_back: "The chain node shows an older state than was seen before. Try again, or name another node.",
  // Failures of transactions.
  no_gas: "The address has no SUI left to pay for the transaction. Send it some, then try again.",
  not_owner: "Only the owner of the vault may do this.",
  already_member: "The address is on the allowlist already.",
  is_owner: "The address is the vault's owner. Offer the ownership to somebody else first.",
  members_full: "A vault holds 1,000 members. Remove one first.",
  signing_key_invalid: "A signing key is an Ed25519 public key of 32 bytes, or empty.",
  too_many_keys: "This address has replaced its signing key too often. Ask the owner to remove it and to add it again.",
  end_invalid: "A membership ends on a whole quarter of an hour that is still to come.",
  act_outdated:
    "The vault has changed since this act was prepared, and it did nothing. Read the vault, then decide again.",
  not_offered: "The ownership was not offered to this address.",
  floor_invalid: "The floor is raised at most to the vault's generation, and never lowered.",
  transaction_refused: "What the chain node built is not what was asked for. Nothing was signed; name another node.",
  transaction_failed: "The transaction failed and changed nothing. Try again.",
  transaction_unknown: "It is not known whether the transaction was executed. Read the vault before trying again.",
} as const;

export type ChainErrorCode = keyof typeof CHAIN_ERRORS;

/**
 * A failure of the chain or of the key servers. The message says what to do; it holds no key and nothing that a server
 * wrote. `cause` is the caught error.
 */
export class ChainError extends Error {
  override readonly name = "ChainError";
  readonly code: ChainErrorCode;

  constructor(code: ChainErrorCode, options?: { readonly message?: string; readonly cause?: unknown }) {
    super(options?.message ?? CHAIN_ERRORS[code], options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
  }
}
