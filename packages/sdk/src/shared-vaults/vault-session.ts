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
import { webPlatform } from "@coffer/crypto";
import { callOn } from "../http/call.ts";
import type { Signer } from "../signers/signer.ts";
import type { Connection, SharedVaultOptions, CallOptions } from "../connection/options.ts";
import { registerKeyHolder } from "../connection/key-holder.ts";
import { openVault } from "./keys/vault-opener.ts";
import { OwnedKeys } from "./keys/owned-keys.ts";
import { hexOf } from "./addresses.ts";
import { openHomes } from "./trust/item-homes.ts";
import type { OpenVault } from "./open-vault.ts";
import { describePin } from "./trust/pin-facts.ts";
import { pinFirst } from "./trust/pin-changes.ts";
import { isSamePin, memoryPins, type VaultPin } from "./trust/pins.ts";
import { rememberMemories } from "./trust/seen-memory.ts";
import type { PinnedVault, VaultSession } from "./session.ts";
import { publicVault, vaultError } from "./vault-error.ts";
import { inVaultTerms } from "./vault-terms.ts";
import { unlessAborted, untilAborted } from "./caller-signal.ts";

const sessions = new WeakMap<Connection, VaultSession>();

/** @throws VaultError `shared_vault` for a client that was opened without `sharedVaults`. */
export function vaultSession(connection: Connection): VaultSession {
  const known = sessions.get(connection);
  if (known !== undefined) return known;
  if (connection.sharedVaults === null)
    throw vaultError("shared_vault", "This client has no chain key and no network, which shared vaults need");
  const session = openSession(connection, connection.sharedVaults);
  sessions.set(connection, session);
  registerKeyHolder(connection, session);
  return session;
}

/** @throws VaultError `public_vault`. */
export async function requireOpenVault(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<OpenVault> {
  const vault = await vaultSession(connection).find(vaultId, options);
  if (vault === null) throw publicVault();
  return vault;
}

function openSession(connection: Connection, shared: SharedVaultOptions): VaultSession {
  const { signer, network, fetch, clock = Date.now } = shared;
  const wait = (milliseconds: number) =>
    new Promise<void>((resolve) => void connection.clock.after(milliseconds, resolve));
  const chain = openChain(network, { fetch, clock, wait });
  const pins = shared.pins ?? memoryPins();
  const seen = rememberMemories(shared.seen);
  const opened = new Map<string, Promise<PinnedVault>>();
  const looked = new Map<string, Promise<PinnedVault>>();
  let owned = new OwnedKeys();
  let wrap: SealKeyWrap | null = null;
  const session: VaultSession = {
    connection,
    signer,
    chain,
    clock,
    pins,
    platform: shared.platform ?? webPlatform,
    seen,
    wrap: () => (wrap ??= openWrap(chain, shared)),
    forget: () => {
      wrap?.close();
      wrap = null;
      opened.clear();
      looked.clear();
    },
    forgetKeys: () => {
      session.forget();
      owned.dispose();
      owned = new OwnedKeys();
    },
    pin: (vaultId, options) => findPin(session, looked.get(vaultId), vaultId, options),
    pinFirst: (vault, ownerAddress) => pinFirst(pins, pinOf(session, vault, ownerAddress)),
    homes: openHomes(connection.service.origin, pins, seen),
    find: async (vaultId, options) => untilAborted((await session.open(vaultId, options)).vault, options?.signal),
    open: (vaultId, options) => unlessAborted(openOnce(session, opened, vaultId, owned), options?.signal),
    findUnpinned: async (vaultId, options) => {
      const pin = await pins.load(connection.service.origin, vaultId);
      if (pin !== null) return session.find(vaultId, options);
      const looking = looked.get(vaultId) ?? openAs(session, readPin(session, vaultId), owned);
      looked.set(vaultId, looking);
      looking.catch(() => looked.get(vaultId) === looking && looked.delete(vaultId));
      return untilAborted((await unlessAborted(looking, options?.signal)).vault, options?.signal);
    },
  };
  return session;
}

/** One opening for all that ask at once. The present pin counts: another process may have set it. */
async function openOnce(
  session: VaultSession,
  opened: Map<string, Promise<PinnedVault>>,
  vaultId: string,
  owned: OwnedKeys,
): Promise<PinnedVault> {
  const known = opened.get(vaultId);
  if (known !== undefined) {
    const now = await session.pins.load(session.connection.service.origin, vaultId);
    const { pin } = await known;
    // The owner must be the pinned one wherever the vault is read.
    if (now === null || isSamePin({ ...now, ownerAddress: pin.ownerAddress }, pin)) return known;
    if (opened.get(vaultId) === known) opened.delete(vaultId);
  }
  // Without the first caller's options: others wait for the same.
  const opening = opened.get(vaultId) ?? openAs(session, session.pin(vaultId), owned);
  opened.set(vaultId, opening);
  // A failure is not remembered: the next call tries again.
  opening.catch(() => opened.get(vaultId) === opening && opened.delete(vaultId));
  return opening;
}

async function openAs(session: VaultSession, shown: Promise<VaultPin>, owned: OwnedKeys): Promise<PinnedVault> {
  const pin = await shown;
  return { pin, vault: pin.shared ? await openVault(session, pin, owned) : null };
}

function openWrap(chain: Chain, { signer, network, fetch, clock, keyWrap }: SharedVaultOptions): SealKeyWrap {
  // Asks for each vault once: its version never changes, and an unneeded place in the list costs gas alone.
  const known = new Map<string, VaultLocation>();
  const locate = async (vault: Uint8Array): Promise<VaultLocation> => {
    const objectId = hexOf(vault);
    const location = known.get(objectId) ?? locateVault(await chain.readVault(objectId), signer.chainAddress);
    known.set(objectId, location);
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
 * First use: compares the service's words with the chain, and keeps them (encryption design §2, pins). `looked`: this
 * process's earlier read, if an answer named the vault: it pins nothing else now.
 */
async function findPin(
  session: VaultSession,
  looked: Promise<PinnedVault> | undefined,
  vaultId: string,
  options?: CallOptions,
): Promise<VaultPin> {
  const { connection, pins } = session;
  const known = await pins.load(connection.service.origin, vaultId);
  if (known !== null) {
    requireSameNetwork(session, known);
    return known;
  }
  const pin = await readPin(session, vaultId, options);
  const before = (await looked)?.pin ?? pin;
  if (!isSamePin({ ...before, ownerAddress: pin.ownerAddress }, pin))
    throw vaultError(
      "vault_changed",
      `Vault ${vaultId} was ${describePin(before)}, and ${describePin(pin)} is shown now`,
    );
  return pinFirst(pins, pin);
}

async function readPin(session: VaultSession, vaultId: string, options?: CallOptions): Promise<VaultPin> {
  const { vault } = await callOn(session.connection, vaultsGroup.get, { params: { vaultId } }, options);
  const object = await inVaultTerms(() => readObject(session, vault));
  const pin = pinOf(session, vault, object?.owner.chainAddress ?? null);
  await requireNewObject(session, pin);
  return pin;
}

/** One chain object is one vault: otherwise its content would be in two, and no act by its id alone would be possible. */
async function requireNewObject(
  { connection, pins }: VaultSession,
  { shared, vaultId, ...pin }: VaultPin,
): Promise<void> {
  if (!shared) return;
  const known = await pins.list(connection.service.origin);
  const other = known.find((one) => one.chainObjectId === pin.chainObjectId && one.vaultId !== vaultId);
  if (other === undefined) return;
  const message = `The service shows the chain object of vault ${other.vaultId} as that of vault ${vaultId}`;
  throw vaultError("vault_changed", message, {
    nextStep: `Ask the owner of ${vaultId}, on a channel other than the service, which object it is. Then call vaults.trust with it.`,
  });
}

async function readObject({ chain }: VaultSession, vault: Vault): Promise<VaultObject | null> {
  if (vault.type !== "shared") return null;
  if (vault.chainObjectId === null)
    throw vaultError("vault_changed", "The service names no chain object for the shared vault");
  return chain.readVault(vault.chainObjectId);
}

export function pinOf(
  { connection, chain }: VaultSession,
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
export function requireSameNetwork({ chain }: VaultSession, pin: VaultPin): void {
  if (!pin.shared || pin.chainId === chain.network.chainId) return;
  const message = `The vault was pinned on chain ${pin.chainId ?? "none"}, but chain ${chain.network.chainId} is configured`;
  throw vaultError("vault_changed", message);
}
