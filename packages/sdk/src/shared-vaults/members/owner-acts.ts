/** Rights in a vault that a signer changes for itself, or hands on. Each is one transaction, and safe to repeat. */
import { type ActWarning, acceptOwnership, leave, offerOwnership, setSigningKey, type VaultAct } from "@coffer/chain";
import { ownershipGroup } from "@coffer/contract";
import { callOn } from "../../http/call.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { transactionSigner } from "../create-vault.ts";
import { ACCEPTED, LEFT } from "../effect-texts.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { bytesOf } from "../addresses.ts";
import { replacePin } from "../trust/pin-changes.ts";
import type { VaultPin } from "../trust/pins.ts";
import { untilSeen } from "../service-view.ts";
import { actOnRight } from "./pending-rights.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { requireOpenVault, vaultRegistry } from "../client-vaults.ts";

/** The result of an act, and the vault's generation after it. */
export interface ActResult {
  /** `done` by this call, or `already`: there was nothing left to do. */
  readonly outcome: "done" | "already";
  /** Generation of the vault after it. */
  readonly generation: number;
  /** Remarks about the act or the vault; empty if there are none. */
  readonly warnings: readonly ActWarning[];
}

/** An act after which somebody reads less, and its effect. */
export interface ClosingActResult extends ActResult {
  /** What is closed now, for which addresses, and what is not, in words for people. */
  readonly effect: string;
}

/** Takes the signer off the allowlist: it cannot open files written afterwards. */
export async function leaveVault(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<ClosingActResult> {
  const result = await act(connection, vaultId, options, async (registry, objectId) => {
    const result = await leave(registry.chain, transactionSigner(registry.signer), { objectId });
    registry.forget();
    return result;
  });
  return { ...result, effect: LEFT };
}

/** Names the key that signs this member's statements. Default: the signer's own. */
export function setVaultSigningKey(
  connection: Connection,
  vaultId: string,
  signingKey?: Uint8Array,
  options?: CallOptions,
): Promise<ActResult> {
  return act(connection, vaultId, options, ({ chain, signer }, objectId) => {
    const key = signingKey ?? signer.statements?.publicKey;
    if (key === undefined) throw vaultError("signing_key_missing", "The signer has no key that signs statements");
    return setSigningKey(chain, transactionSigner(signer), { objectId, signingKey: key });
  });
}

/** Offers the vault to an address, or withdraws the offer with null. @throws VaultError `act_outdated`, `is_owner`, … */
export function offerVault(
  connection: Connection,
  vaultId: string,
  chainAddress: string | null,
  options?: CallOptions,
): Promise<ActResult> {
  if (chainAddress !== null) bytesOf(chainAddress);
  return act(connection, vaultId, options, (registry, objectId) =>
    actOnRight(registry, objectId, { of: "ownership", chainAddress }, (known) =>
      offerOwnership(registry.chain, transactionSigner(registry.signer), { objectId, chainAddress }, known),
    ),
  );
}

/** Options of {@link acceptVault}. */
export interface AcceptOptions extends CallOptions {
  /** The vault's new name; needed if this account has another vault of its name. Default: its own. */
  readonly name?: string | undefined;
}

/**
 * Takes over a vault that was offered to the signer. It does so on the chain, and then at the service, where the vault
 * with all its content comes to this account. The owner before cannot open files written afterwards. The next call
 * goes on where one was cut off.
 */
export async function acceptVault(
  connection: Connection,
  vaultId: string,
  { name, ...options }: AcceptOptions = {},
): Promise<ClosingActResult> {
  const accepted = await acceptOnChain(connection, vaultId, options);
  const input = { params: { vaultId }, body: name === undefined ? {} : { name } };
  const claim = () => callOn(connection, ownershipGroup.claim, input, options);
  await untilSeen(connection, "chain_object_invalid", options, claim);
  return { ...accepted, effect: ACCEPTED };
}

function acceptOnChain(connection: Connection, vaultId: string, options: CallOptions): Promise<ActResult> {
  return act(connection, vaultId, options, async (registry, objectId, pin) => {
    const { chain, signer, pins } = registry;
    const signingKey = signer.statements?.publicKey;
    const accepted = await acceptOwnership(chain, transactionSigner(signer), {
      objectId,
      ...(signingKey === undefined ? {} : { signingKey }),
    });
    const owned = { ...pin, ownerAddress: signer.chainAddress };
    // A user who trusted another object meanwhile did not mean the accepted one.
    await replacePin(pins, pin, (kept) => (kept === null || kept.chainObjectId === pin.chainObjectId ? owned : kept));
    registry.forget();
    return accepted;
  });
}

async function act(
  connection: Connection,
  vaultId: string,
  options: CallOptions | undefined,
  work: (registry: VaultRegistry, objectId: string, pin: VaultPin) => Promise<VaultAct>,
): Promise<ActResult> {
  const { pin } = await requireOpenVault(connection, vaultId, options);
  const { outcome, vault, warnings } = await inVaultTerms(() =>
    work(vaultRegistry(connection), pin.chainObjectId ?? "", pin),
  );
  return { outcome, generation: Number(vault.generation), warnings };
}
