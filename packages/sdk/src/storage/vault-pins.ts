/** Compares what the service says of a vault with this client's pins. */
import type { Vault } from "@coffer/contract";
import type { Connection } from "../connection/options.ts";
import { isSamePin, type VaultPin } from "../shared-vaults/trust/pins.ts";
import { vaultChanged } from "../shared-vaults/vault-changed.ts";

/**
 * Rejects another type or another chain object. Pins nothing.
 * @throws VaultError `vault_changed`.
 */
export async function requirePinned({ service, sharedVaults }: Connection, vaults: readonly Vault[]): Promise<void> {
  const { pins } = sharedVaults ?? {};
  for (const { id, type, chainObjectId } of vaults) {
    const pin = (await pins?.load(service.origin, id)) ?? null;
    if (pin === null || (pin.shared === (type === "shared") && pin.chainObjectId === chainObjectId)) continue;
    throw vaultChanged(
      `Vault ${id} is pinned as ${nameOf(pin)}, and the service shows ${type} ${chainObjectId ?? ""} now`,
    );
  }
}

function nameOf({ shared, chainObjectId }: VaultPin): string {
  return shared ? `shared ${chainObjectId ?? ""}` : "public";
}

/**
 * A vault with an old id was not created now, unless the caller repeats its creation.
 * @throws VaultError `vault_changed`.
 */
export async function pinCreated(
  { service, sharedVaults }: Connection,
  { id }: Vault,
  isRepeated: boolean,
): Promise<void> {
  const pins = sharedVaults?.pins;
  if (pins === undefined) return;
  const none = { chainObjectId: null, ownerAddress: null, chainId: null };
  const pin: VaultPin = { origin: service.origin, vaultId: id, shared: false, ...none };
  if (await pins.save(null, pin)) return;
  if (isRepeated && isSamePin(await pins.load(service.origin, id), pin)) return;
  throw vaultChanged(`The service answers with vault ${id}, which was there before, in place of a new one`);
}
