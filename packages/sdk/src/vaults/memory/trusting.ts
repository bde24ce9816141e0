/** What a user was told of a vault over another way than the service, and holds it to from then on (encryption design §2, pins). */
import { clientApi as api } from "@coffer/contract";
import { encodeRequest } from "../../encode-request.ts";
import type { Connection, CallOptions } from "../../options.ts";
import { bytesOf } from "../addresses.ts";
import { describePin } from "./pin-facts.ts";
import { replacePin } from "./pinning.ts";
import { forgetNumbers } from "./newest.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { pinOf, vaultSession } from "../vault-session.ts";

/** A shared vault, as its owner tells it. */
export interface ToldOfVault {
  /** The chain object that the vault is: 0x and 64 hex digits. */
  readonly chainObjectId: string;
  readonly ownerAddress: string;
}

/**
 * Pins a vault to what its owner said, before the service was asked or in the place of what it said: from then on neither another chain object
 * nor "it is public" is taken from it. What a node has shown of it before counts no more.
 * @throws VaultError `address_invalid`; `vault_changed` unless the chain names that address as the object's owner; `vault_not_found`;
 * ContractError `invalid_request` for what is no vault's id.
 */
export async function trustVault(
  connection: Connection,
  vaultId: string,
  { chainObjectId, ownerAddress }: ToldOfVault,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainObjectId);
  // Under another spelling it would be kept, and never looked up.
  await encodeRequest(api.vaults.get, { params: { vaultId } });
  const session = vaultSession(connection);
  // What a node has made up before keeps nobody from it.
  session.chain.forgetVault(chainObjectId);
  await requireOwner(connection, chainObjectId, ownerAddress, options);
  const told = pinOf(session, { id: vaultId, type: "shared", chainObjectId }, ownerAddress);
  // What was noted of files and folders while it was taken for public counts no more either: that is looked at for public pins alone.
  await replacePin(session.pins, told, () => told);
  await forgetNumbers(session, chainObjectId, true);
  session.forget();
}

/**
 * Holds the vault to another owner than the one it was pinned to: what a user decides who has heard from the new owner, over another way
 * than the service, that the vault was handed on.
 * @throws VaultError `vault_changed` unless the chain names that address as the owner; `address_invalid`.
 */
export async function trustOwner(
  connection: Connection,
  vaultId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainAddress);
  const session = vaultSession(connection);
  const pin = await session.pin(vaultId, options);
  await requireOwner(connection, pin.chainObjectId ?? "", chainAddress, options);
  const trusted = { ...pin, ownerAddress: chainAddress };
  // It was this object whose owner the chain has just named.
  await replacePin(session.pins, pin, (kept) => {
    if (kept !== null && kept.chainObjectId !== pin.chainObjectId)
      throw vaultError("vault_changed", `Another process has pinned the vault to ${describePin(kept)} meanwhile`);
    return trusted;
  });
  session.forget();
}

async function requireOwner(
  connection: Connection,
  objectId: string,
  chainAddress: string,
  options?: CallOptions,
): Promise<void> {
  bytesOf(chainAddress);
  options?.signal?.throwIfAborted();
  const { chain } = vaultSession(connection);
  const { owner } = await inVaultTerms(() => chain.readVault(objectId, { maxAge: 0 }));
  if (owner.chainAddress !== chainAddress)
    throw vaultError("vault_changed", `The chain names ${owner.chainAddress} as the owner, not ${chainAddress}`);
}
