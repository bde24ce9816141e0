/** The calls behind VaultResource that any client makes: they compare the service's facts of a vault with the client's pins. */
import { vaultsGroup, type Vault } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { isSamePin, type VaultPin } from "../shared-vaults/trust/pins.ts";
import { vaultChanged } from "../shared-vaults/vault-changed.ts";
import type { Body, Query } from "../connection/call-fields.ts";
import { deleteWithProof } from "./owner-proof.ts";

type Vaults = typeof vaultsGroup;

export function plainVaultCalls(connection: Connection) {
  const { create, list, get, update } = vaultsGroup;
  return {
    create: async (body: Body<Vaults["create"]>, options?: CallOptions) => {
      const { vault } = await callOn(connection, create, { body }, options);
      await requirePinned(connection, [vault]);
      if (vault.type === "public") await pinCreated(connection, vault, options?.idempotencyKey !== undefined);
      return vault;
    },
    list: async (query: Query<Vaults["list"]>, options?: CallOptions) => {
      const page = await callOn(connection, list, { query }, options);
      await requirePinned(connection, page.vaults);
      return page;
    },
    get: async (vaultId: string, options?: CallOptions) => {
      const { vault } = await callOn(connection, get, { params: { vaultId } }, options);
      await requirePinned(connection, [vault]);
      return vault;
    },
    update: async (vaultId: string, body: Body<Vaults["update"]>, options?: CallOptions) => {
      const { vault } = await deleteWithProof(
        connection,
        { act: "shorten-retention", vaultId },
        (headers) => callOn(connection, update, { params: { vaultId }, headers, body }, options),
        options,
      );
      await requirePinned(connection, [vault]);
      return vault;
    },
  };
}

/**
 * Rejects another type or another chain object. Pins nothing.
 * @throws VaultError `vault_changed`.
 */
export async function requirePinned({ place, sharedVaults }: Connection, vaults: readonly Vault[]): Promise<void> {
  const { pins } = sharedVaults ?? {};
  for (const { id, type, chainObjectId } of vaults) {
    const pin = (await pins?.load(place.origin, id)) ?? null;
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
async function pinCreated({ place, sharedVaults }: Connection, { id }: Vault, isRepeated: boolean): Promise<void> {
  const pins = sharedVaults?.pins;
  if (pins === undefined) return;
  const none = { chainObjectId: null, ownerAddress: null, chainId: null };
  const pin: VaultPin = { origin: place.origin, vaultId: id, shared: false, ...none };
  if (await pins.save(null, pin)) return;
  if (isRepeated && isSamePin(await pins.load(place.origin, id), pin)) return;
  throw vaultChanged(`The service answers with vault ${id}, which was there before, in place of a new one`);
}
