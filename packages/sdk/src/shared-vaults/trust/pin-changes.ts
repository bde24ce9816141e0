/** How a pin is set, and the few acts that replace one (encryption design §7, pins). */
import { describePin } from "./pin-facts.ts";
import { isSamePin, type PinStore, type VaultPin } from "./pins.ts";
import { vaultChanged } from "../vault-changed.ts";

/**
 * Pins a vault that is not pinned yet. Another process may come first: then its pin must be the same one.
 * @throws VaultError `vault_changed`, with `nextStep` where one is given.
 */
export async function pinFirst(store: PinStore, pin: VaultPin, nextStep?: string): Promise<VaultPin> {
  if (await store.save(null, pin)) return pin;
  const kept = await store.load(pin.origin, pin.vaultId);
  if (kept !== null && isSamePin(kept, pin)) return kept;
  throw vaultChanged(
    `Vault ${pin.vaultId} is pinned to ${kept === null ? "nothing" : describePin(kept)}, and ${describePin(pin)} is shown now`,
    nextStep,
  );
}

/** How often another process may change a pin while this one decides on its replacement. */
const ATTEMPTS = 5;

/**
 * Replaces a pin by what a user got from the owner, or by what this client has done on the chain.
 * @throws VaultError `vault_changed` when other processes keep changing it.
 */
export async function replacePin(
  store: PinStore,
  { origin, vaultId }: Pick<VaultPin, "origin" | "vaultId">,
  next: (kept: VaultPin | null) => VaultPin,
): Promise<VaultPin> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const kept = await store.load(origin, vaultId);
    const pin = next(kept);
    if (isSamePin(kept, pin) || (await store.save(kept, pin))) return pin;
  }
  throw vaultChanged(`Other processes keep changing what vault ${vaultId} is pinned to`);
}
