/** Failures of shared vaults that no response of the service is: of the chain, the key servers, and of bytes that cannot be trusted. */
import type { ErrorCode } from "@coffer/contract";
import type { VaultErrorCode } from "@coffer/sdk";

export interface FailureText {
  readonly retryable: boolean;
  readonly message: string;
  readonly nextStep: string;
}

export const failureText = (retryable: boolean, message: string, nextStep: string): FailureText => ({
  retryable,
  message,
  nextStep,
});

const EXPLAIN = "Call vault_access_check for the vault, and tell the user what it says.";
const DO_NOT_USE = "Do not use the file; tell the user, and ask the vault's owner.";
const OWNER_ACT = "Tell the user; the vault's owner decides.";

/** Failures of opening a vault. */
const OPENING = {
  shared_vault: failureText(
    false,
    "The vault is shared, and this server has no chain key or no network to open it with",
    "Ask the user to set SERVICE_CHAIN_PRIVATE_KEY and SERVICE_NETWORK_FILE for this server, or to put them into its config file. Never ask for the key in the conversation.",
  ),
  key_servers_unavailable: failureText(true, "Too few key servers answer", `Wait a minute and call again. ${EXPLAIN}`),
  key_servers_behind: failureText(
    true,
    "The key servers have not seen the vault's latest change yet",
    "Call again in two minutes.",
  ),
  wrong_chain_key: failureText(false, "The vault names another chain key than this server's", EXPLAIN),
  sign_in_ended: failureText(false, "The zkLogin sign-in has ended", "Ask the user to sign in again; nothing is lost."),
  address_alias: failureText(
    false,
    "Key servers refuse addresses that have aliases",
    "Tell the user to use another chain key.",
  ),
  chain_stale: failureText(
    true,
    "The chain node is too far behind to be believed",
    "Call again; if it repeats, tell the user.",
  ),
  chain_disagrees: failureText(
    false,
    "Two chain nodes show different states of the vault; neither was believed",
    "Write nothing; tell the user that one of the nodes in the network file lies or is broken. vault_access_check names both.",
  ),
  network_changed: failureText(
    false,
    "The chain is not the one that this server is configured for",
    "Ask the user to compare the network file with the one of the vault's owner.",
  ),
  vault_not_found: failureText(
    false,
    "The chain has no such vault",
    "Ask the user to compare the network file with the one of the vault's owner.",
  ),
  vault_changed: failureText(
    false,
    "The vault is not the one that this server has pinned; nothing was written",
    "Write nothing; tell the user, and ask the vault's owner what changed.",
  ),
  rolled_back: failureText(
    false,
    "An older state was shown than was seen before",
    "Do not use the older state; tell the user.",
  ),
  signing_key_missing: failureText(
    false,
    "The vault names no key with which this server could sign what it writes",
    "Reading works. To write, ask the user to run coffer vaults set-signing-key VAULT once with this server's chain key. For an agent of the owner's account, the owner can remove and add the chain address instead.",
  ),
  keys_forgotten: failureText(
    true,
    "The keys of shared vaults were overwritten while the call ran",
    "Call again: the keys are opened anew.",
  ),
} as const satisfies Partial<Record<VaultErrorCode, FailureText>>;

/** Failures of bytes from the service. */
const READING = {
  damaged: failureText(false, "The stored bytes are not what a member wrote; nothing was kept", DO_NOT_USE),
  wrong_key: failureText(false, "The file's key or signature is not the vault's; nothing was kept", DO_NOT_USE),
  vault_required: failureText(
    false,
    "The vault is not named, and nothing was sent",
    "Pass the vaultId, then call again.",
  ),
  export_unsigned: failureText(
    false,
    "Nobody has signed that the export is whole",
    "Ask the user for a signed export.",
  ),
  unsupported_version: failureText(
    false,
    "The file's format is newer than this server",
    "Tell the user to update this server.",
  ),
  unsupported_suite: failureText(
    false,
    "The file's format is newer than this server",
    "Tell the user to update this server.",
  ),
} as const satisfies Partial<Record<VaultErrorCode, FailureText>>;

/** Failures of changes on the chain. */
const CHANGING = {
  no_gas: failureText(
    false,
    "The chain address has no SUI to pay with",
    "Ask the user to send it some, then call again.",
  ),
  not_owner: failureText(false, "Only the vault's owner may do this", OWNER_ACT),
  already_member: failureText(false, "The address is a member already", OWNER_ACT),
  is_owner: failureText(false, "The address is the vault's owner", OWNER_ACT),
  members_full: failureText(false, "The vault is full", OWNER_ACT),
  signing_key_invalid: failureText(false, "The signing key cannot be used", OWNER_ACT),
  too_many_keys: failureText(false, "The address has replaced its signing key too often", OWNER_ACT),
  membership_ended: failureText(
    false,
    "The membership of this chain address has ended",
    "Tell the user: the vault's owner can add the address again.",
  ),
  end_invalid: failureText(false, "A membership cannot end then", OWNER_ACT),
  not_offered: failureText(false, "The vault was not offered to this address", OWNER_ACT),
  act_outdated: failureText(false, "The vault has changed since the act was prepared; it did nothing", OWNER_ACT),
  floor_invalid: failureText(false, "The floor cannot be set like this", OWNER_ACT),
  address_invalid: failureText(false, "The chain address is malformed", OWNER_ACT),
  invite_unproven: failureText(false, "No address is proven by the invite", OWNER_ACT),
  transaction_refused: failureText(
    false,
    "The chain node built something else; nothing was signed",
    "Tell the user to name another node.",
  ),
  transaction_failed: failureText(
    false,
    "The transaction failed and changed nothing",
    "Call again once; if it repeats, tell the user.",
  ),
  transaction_unknown: failureText(
    true,
    "It is not known whether the transaction was executed",
    "Look with vault_list before calling again.",
  ),
} as const satisfies Partial<Record<VaultErrorCode, FailureText>>;

/** Complete: a code that the SDK gets is one that is missing here. */
export const VAULT_FAILURES = { ...OPENING, ...READING, ...CHANGING } as const satisfies Record<
  Exclude<VaultErrorCode, ErrorCode>,
  FailureText
>;
