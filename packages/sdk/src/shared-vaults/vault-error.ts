/** Failures between this client, the chain and the key servers, each with its next step. */
import type { CryptoStep } from "@coffer/crypto";
import { VaultError, type VaultErrorCode } from "../http/errors.ts";
import { sanitizeCause } from "../http/redaction.ts";
import { HOW_TO_OPEN } from "../connection/how-to-open.ts";
import { ASK_WHAT_CHANGED } from "./vault-changed.ts";

/** A failure in a shared vault with the next step of its code, unless `more` has a better one. */
export function vaultError(
  code: VaultErrorCode,
  message: string,
  more: { readonly nextStep?: string; readonly step?: CryptoStep | null; readonly cause?: unknown } = {},
): VaultError {
  return new VaultError(code, message, {
    retryable: RETRYABLE.has(code),
    nextStep: more.nextStep ?? NEXT_STEPS[code],
    step: more.step ?? null,
    cause: more.cause === undefined ? undefined : sanitizeCause(more.cause),
  });
}

/** As the service says it. */
export const publicVault = (): VaultError => vaultError("public_vault", "A public vault has no members or keys");

const RETRYABLE: ReadonlySet<string> = new Set<VaultErrorCode>([
  "key_servers_unavailable",
  "key_servers_behind",
  "chain_stale",
  "chain_unavailable",
  "transaction_unknown",
  "keys_forgotten",
]);

export const NEXT_STEPS: Readonly<Record<VaultErrorCode, string>> = {
  not_a_member: "Ask the vault's owner to add this chain address as a member.",
  membership_ended: "Ask the vault's owner to add this chain address again.",
  key_servers_unavailable: "Wait until the key servers that the message names answer, then repeat it.",
  key_servers_behind: "Wait two minutes, then repeat it.",
  wrong_chain_key: "Use the chain key whose address is a member of the vault.",
  sign_in_ended:
    "Sign in again with a new ephemeral key, then repeat it. The address stays the same, and opens the same vaults.",
  address_alias: "Use an address without aliases.",
  clock_skew:
    "Set this machine's clock, then repeat it. If you think that it is right, call vaults.checkAccess, which compares it with the service's too.",
  chain_stale: "Repeat it, or name another chain node.",
  chain_unavailable: "Repeat it, or name another chain node.",
  chain_disagrees: "Believe neither node. Compare the vault at a third party's node, and replace the node that lies.",
  network_changed: "Compare the network configuration with the one the vault's owner uses.",
  vault_not_found: "Compare the network configuration with the one the vault's owner uses.",
  vault_changed: ASK_WHAT_CHANGED,
  rolled_back:
    "Ask the operator which state is the newest; do not use the older one. If the service was restored from a backup and the operator says so, forget what was seen with vaults.forgetSeen, then repeat it.",
  no_gas: "Send the address some SUI, then repeat it.",
  not_owner: "Ask the vault's owner to do this.",
  already_member: "Nothing is left to do. To name another signing key, the member calls vaults.setSigningKey.",
  is_owner: "Hand the vault to somebody else first, with vaults.offerOwnership, or name another address.",
  members_full: "Remove a member who no longer needs the vault, then repeat it.",
  signing_key_invalid: "Give an Ed25519 public key of 32 bytes.",
  too_many_keys: "Ask the vault's owner to remove this address and to add it again.",
  end_invalid: "Name an end on a whole quarter of an hour that is still to come.",
  not_offered: "Ask the vault's owner to offer the vault to this address with vaults.offerOwnership, then repeat it.",
  act_outdated: "Look at the vault's members, and at whom it is offered to. If it is still wanted, repeat it.",
  floor_invalid: "Read the vault on the chain. Its floor may be as high already, or its generation not as high yet.",
  transaction_refused: "Name another chain node: this one built something else than it was asked for.",
  transaction_failed: "Repeat it once; if it fails again, name another chain node.",
  damaged: "Do not use the file; ask the owner for a version that is whole.",
  wrong_key: "Do not use the file; tell the owner that its keys do not fit.",
  unsupported_version: "Update this client.",
  unsupported_suite: "Update this client.",
  not_encrypted: "Do not use the file: a shared vault holds encrypted files only.",
  vault_required: "Name the vault: give its id as vaultId.",
  shared_vault: HOW_TO_OPEN,
  public_vault: "Use a shared vault.",
  signing_key_missing:
    "Set a signing key in the vault with vaults.setSigningKey, or use the signer that holds the one it names.",
  generation_moved: "Repeat it: what is done stays done.",
  keys_forgotten: "Repeat it if it is still wanted: the keys are opened again.",
  export_unsigned:
    "Ask who exported it whether it was signed. If it was, take another copy. If not, export it again as a member with a signing key (vaults.setSigningKey), or open it with allowUnsigned: files may be missing then.",
  invite_unproven:
    "If the agent has not redeemed the invite yet, wait for it. If it has, ask the agent for its address on a channel other than the service: the service may show another one.",
  address_invalid: "Give an address of 0x and 64 lower-case hex digits.",
  transaction_unknown: "Read the vault on the chain, then decide whether to repeat it.",
};
