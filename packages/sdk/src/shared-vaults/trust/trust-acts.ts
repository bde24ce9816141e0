/**
 * A vault's facts that a user got on a channel other than the service, and that pin it from then on (encryption design
 * §2, pins).
 */
import { vaultsGroup } from "@coffer/contract";
import { encodeRequest } from "../../http/encode-request.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { bytesOf } from "../addresses.ts";
import { describePin } from "./pin-facts.ts";
import { replacePin } from "./pin-changes.ts";
import { forgetNumbers } from "./seen-numbers.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { pinOf, vaultRegistry } from "../client-vaults.ts";

/** A shared vault, as its owner describes it. */
export interface ToldOfVault {
  /** The chain object that the vault is: 0x and 64 hex digits. */
  readonly chainObjectId: string;
  /** Sui address of the vault's owner: `0x` and 64 lower-case hex digits. */
  readonly ownerAddress: string;
}

/**
 * Pins a vault to its owner's words, before the service was asked or instead of the service's words. From then on the
 * client accepts neither another chain object nor "it is public". Earlier sights of a node count no more.
 * @throws VaultError `address_invalid`; `vault_changed` unless the chain names that address as the object's owner;
 * `vault_not_found`.
 * @throws ContractError `invalid_request` for anything but a vault's id.
 */
export async function trustVault(
  connection: Connection,
  vaultId: string,
  { chainObjectId, ownerAddress }: ToldOfVault,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainObjectId);
  // Under another spelling it would be kept, and never looked up.
  await encodeRequest(vaultsGroup.get, { params: { vaultId } });
  const registry = vaultRegistry(connection);
  // Numbers that a node has made up before do not prevent it.
  registry.chain.forgetVault(chainObjectId);
  await requireOwner(connection, chainObjectId, ownerAddress, options);
  const pin = pinOf(registry, { id: vaultId, type: "shared", chainObjectId }, ownerAddress);
  // Notes of files and folders from the time when it counted as public go too: only public pins use them.
  await replacePin(registry.pins, pin, () => pin);
  await forgetNumbers(registry, chainObjectId, true);
  registry.forget();
}

/**
 * Pins the vault to another owner, after the user has heard from the new owner that the vault was handed on. Use only
 * what the new owner sent on a channel other than the service.
 * @throws VaultError `vault_changed` unless the chain names that address as the owner; `address_invalid`.
 */
export async function trustOwner(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainAddress);
  const registry = vaultRegistry(connection);
  const pin = await registry.pin(vaultId, options);
  await requireOwner(connection, pin.chainObjectId ?? "", chainAddress, options);
  const trusted = { ...pin, ownerAddress: chainAddress };
  // The chain has just named the owner of this object.
  await replacePin(registry.pins, pin, (kept) => {
    if (kept !== null && kept.chainObjectId !== pin.chainObjectId)
      throw vaultError("vault_changed", `Another process has pinned the vault to ${describePin(kept)} meanwhile`);
    return trusted;
  });
  registry.forget();
}

async function requireOwner(
  connection: Connection,
  objectId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainAddress);
  options?.signal?.throwIfAborted();
  const { chain } = vaultRegistry(connection);
  const { owner } = await inVaultTerms(() => chain.readVault(objectId, { maxAge: 0 }));
  if (owner.chainAddress !== chainAddress)
    throw vaultError("vault_changed", `The chain names ${owner.chainAddress} as the owner, not ${chainAddress}`);
}
