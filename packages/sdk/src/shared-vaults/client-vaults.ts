/** The chain, the key servers and the open vaults behind one client: made when the first shared vault is met. */
import { vaultsGroup, type Vault } from "@coffer/contract";
import {
  locateVault,
  openChain,
  sealVaultKeyWrap,
  type Chain,
  type SealKeyWrap,
  type VaultLocation,
  type VaultObject,
} from "@coffer/chain";
import { webPlatform, type CryptoPlatform } from "@coffer/crypto";
import { callOn } from "../http/call.ts";
import type { Signer } from "../signers/signer.ts";
import type { Connection, SharedVaultOptions, CallOptions } from "../connection/options.ts";
import { registerKeyHolder } from "../connection/key-holder.ts";
import { openVault } from "./keys/vault-opener.ts";
import { OwnedKeys } from "./keys/owned-keys.ts";
import { hexOf } from "./addresses.ts";
import { openHomes, type Homes } from "./trust/item-homes.ts";
import type { OpenVault } from "./open-vault.ts";
import { describePin } from "./trust/pin-facts.ts";
import { pinFirst } from "./trust/pin-changes.ts";
import { isSamePin, memoryPins, type PinStore, type VaultPin } from "./trust/pins.ts";
import { rememberMemories } from "./trust/seen-memory.ts";
import type { PinnedVault, VaultRegistry } from "./vault-registry.ts";
import { publicVault, vaultError } from "./vault-error.ts";
import { inVaultTerms } from "./vault-terms.ts";
import { unlessAborted, untilAborted } from "./caller-signal.ts";

const registries = new WeakMap<Connection, VaultRegistry>();

/** @throws VaultError `shared_vault` for a client that was opened without `sharedVaults`. */
export function vaultRegistry(connection: Connection): VaultRegistry {
  const made = registries.get(connection);
  if (made !== undefined) return made;
  if (connection.sharedVaults === null)
    throw vaultError("shared_vault", "This client has no chain key and no network, which shared vaults need");
  const registry = new ClientVaults(connection, connection.sharedVaults);
  registries.set(connection, registry);
  registerKeyHolder(connection, registry);
  return registry;
}

/** @throws VaultError `public_vault`. */
export async function requireOpenVault(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<OpenVault> {
  const vault = await vaultRegistry(connection).find(vaultId, options);
  if (vault === null) throw publicVault();
  return vault;
}

/** The vaults that one client has opened, and what it opens them with. */
class ClientVaults implements VaultRegistry {
  readonly connection: Connection;
  readonly signer: Signer;
  readonly chain: Chain;
  readonly clock: () => number;
  readonly pins: PinStore;
  readonly platform: CryptoPlatform;
  readonly seen: VaultRegistry["seen"];
  readonly homes: Homes;
  readonly #shared: SharedVaultOptions;
  /** By id of the vault: those that are pinned. */
  readonly #opened = new Map<string, Promise<PinnedVault>>();
  /** By id of the vault: those that answers have named, as the service showed them first. */
  readonly #unpinned = new Map<string, Promise<PinnedVault>>();
  /** Of all vaults, also those that were opened before the last {@link forget}. */
  #owned = new OwnedKeys();
  #wrap: SealKeyWrap | null = null;

  constructor(connection: Connection, shared: SharedVaultOptions) {
    const { signer, network, fetch, clock = Date.now } = shared;
    const wait = (milliseconds: number) =>
      new Promise<void>((resolve) => void connection.clock.after(milliseconds, resolve));
    this.connection = connection;
    this.signer = signer;
    this.chain = openChain(network, { fetch, clock, wait });
    this.clock = clock;
    this.pins = shared.pins ?? memoryPins();
    this.platform = shared.platform ?? webPlatform;
    this.seen = rememberMemories(shared.seen);
    this.homes = openHomes(connection.service.origin, this.pins, this.seen);
    this.#shared = shared;
  }

  wrap(): SealKeyWrap {
    return (this.#wrap ??= openWrap(this.chain, this.#shared));
  }

  forget(): void {
    this.#wrap?.close();
    this.#wrap = null;
    this.#opened.clear();
    this.#unpinned.clear();
  }

  forgetKeys(): void {
    this.forget();
    this.#owned.dispose();
    this.#owned = new OwnedKeys();
  }

  pin(vaultId: string, options?: CallOptions): Promise<VaultPin> {
    return findPin(this, this.#unpinned.get(vaultId), vaultId, options);
  }

  pinFirst(vault: Pick<Vault, "id" | "type" | "chainObjectId">, ownerAddress: string | null): Promise<VaultPin> {
    return pinFirst(this.pins, pinOf(this, vault, ownerAddress));
  }

  async find(vaultId: string, options?: CallOptions): Promise<OpenVault | null> {
    return untilAborted((await this.open(vaultId, options)).vault, options?.signal);
  }

  open(vaultId: string, options?: CallOptions): Promise<PinnedVault> {
    return unlessAborted(this.#openOnce(vaultId, this.#owned), options?.signal);
  }

  async findUnpinned(vaultId: string, options?: CallOptions): Promise<OpenVault | null> {
    const pin = await this.pins.load(this.connection.service.origin, vaultId);
    if (pin !== null) return this.find(vaultId, options);
    const opening = this.#unpinned.get(vaultId) ?? openAs(this, readPin(this, vaultId), this.#owned);
    remember(this.#unpinned, vaultId, opening);
    return untilAborted((await unlessAborted(opening, options?.signal)).vault, options?.signal);
  }

  /** One opening for all that ask at once. The present pin counts: another process may have set it. */
  async #openOnce(vaultId: string, owned: OwnedKeys): Promise<PinnedVault> {
    const before = this.#opened.get(vaultId);
    if (before !== undefined) {
      const now = await this.pins.load(this.connection.service.origin, vaultId);
      const { pin } = await before;
      // The owner must be the pinned one wherever the vault is read.
      if (now === null || isSamePin({ ...now, ownerAddress: pin.ownerAddress }, pin)) return before;
      if (this.#opened.get(vaultId) === before) this.#opened.delete(vaultId);
    }
    // Without the first caller's options: others wait for the same.
    const opening = this.#opened.get(vaultId) ?? openAs(this, this.pin(vaultId), owned);
    remember(this.#opened, vaultId, opening);
    return opening;
  }
}

/** A failure is not remembered: the next call tries again. */
function remember(openings: Map<string, Promise<PinnedVault>>, vaultId: string, opening: Promise<PinnedVault>): void {
  openings.set(vaultId, opening);
  opening.catch(() => openings.get(vaultId) === opening && openings.delete(vaultId));
}

async function openAs(registry: VaultRegistry, pinning: Promise<VaultPin>, owned: OwnedKeys): Promise<PinnedVault> {
  const pin = await pinning;
  return { pin, vault: pin.shared ? await openVault(registry, pin, owned) : null };
}

function openWrap(chain: Chain, { signer, network, fetch, clock, keyWrap }: SharedVaultOptions): SealKeyWrap {
  // Asks for each vault once: its version never changes, and an unneeded place in the list costs gas alone.
  const locations = new Map<string, VaultLocation>();
  const locate = async (vault: Uint8Array): Promise<VaultLocation> => {
    const objectId = hexOf(vault);
    const location = locations.get(objectId) ?? locateVault(await chain.readVault(objectId), signer.chainAddress);
    locations.set(objectId, location);
    return location;
  };
  const parts = {
    network,
    // A client that only decrypts signs personal messages alone.
    signer: { ...signing(signer), signTransaction: () => Promise.reject(new TypeError("a key wrap sends nothing")) },
    vaultObjects: { locate },
  };
  return keyWrap?.(parts) ?? sealVaultKeyWrap({ ...parts, client: chain.client, fetch, clock });
}

function signing(signer: Signer): Pick<Signer, "chainAddress" | "signPersonalMessage"> {
  return { chainAddress: signer.chainAddress, signPersonalMessage: (bytes) => signer.signPersonalMessage(bytes) };
}

/**
 * First use: compares the service's words with the chain, and keeps them (encryption design §2, pins). `unpinned`:
 * this process's earlier read, if an answer named the vault: it pins nothing else now.
 */
async function findPin(
  registry: VaultRegistry,
  unpinned: Promise<PinnedVault> | undefined,
  vaultId: string,
  options?: CallOptions,
): Promise<VaultPin> {
  const { connection, pins } = registry;
  const pinned = await pins.load(connection.service.origin, vaultId);
  if (pinned !== null) {
    requireSameNetwork(registry, pinned);
    return pinned;
  }
  const pin = await readPin(registry, vaultId, options);
  const before = (await unpinned)?.pin ?? pin;
  if (!isSamePin({ ...before, ownerAddress: pin.ownerAddress }, pin))
    throw vaultError(
      "vault_changed",
      `Vault ${vaultId} was ${describePin(before)}, and ${describePin(pin)} is shown now`,
    );
  return pinFirst(pins, pin);
}

async function readPin(registry: VaultRegistry, vaultId: string, options?: CallOptions): Promise<VaultPin> {
  const { vault } = await callOn(registry.connection, vaultsGroup.get, { params: { vaultId } }, options);
  const object = await inVaultTerms(() => readObject(registry, vault));
  const pin = pinOf(registry, vault, object?.owner.chainAddress ?? null);
  await requireNewObject(registry, pin);
  return pin;
}

/** One chain object is one vault: otherwise its content would be in two, and no act by its id alone would be possible. */
async function requireNewObject(
  { connection, pins }: VaultRegistry,
  { shared, vaultId, ...pin }: VaultPin,
): Promise<void> {
  if (!shared) return;
  const pinned = await pins.list(connection.service.origin);
  const other = pinned.find((one) => one.chainObjectId === pin.chainObjectId && one.vaultId !== vaultId);
  if (other === undefined) return;
  const message = `The service shows the chain object of vault ${other.vaultId} as that of vault ${vaultId}`;
  throw vaultError("vault_changed", message, {
    nextStep: `Ask the owner of ${vaultId}, on a channel other than the service, which object it is. Then call vaults.trust with it.`,
  });
}

async function readObject({ chain }: VaultRegistry, vault: Vault): Promise<VaultObject | null> {
  if (vault.type !== "shared") return null;
  if (vault.chainObjectId === null)
    throw vaultError("vault_changed", "The service names no chain object for the shared vault");
  return chain.readVault(vault.chainObjectId);
}

export function pinOf(
  { connection, chain }: VaultRegistry,
  { id, type, chainObjectId }: Pick<Vault, "id" | "type" | "chainObjectId">,
  ownerAddress: string | null,
): VaultPin {
  const shared = type === "shared";
  return {
    origin: connection.service.origin,
    vaultId: id,
    shared,
    ownerAddress,
    chainObjectId: shared ? chainObjectId : null,
    chainId: shared ? chain.network.chainId : null,
  };
}

/** @throws VaultError `vault_changed`. */
export function requireSameNetwork({ chain }: VaultRegistry, pin: VaultPin): void {
  if (!pin.shared || pin.chainId === chain.network.chainId) return;
  const message = `The vault was pinned on chain ${pin.chainId ?? "none"}, but chain ${chain.network.chainId} is configured`;
  throw vaultError("vault_changed", message);
}
