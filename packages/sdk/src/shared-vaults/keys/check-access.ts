/** Why a vault does not open, in words: five layers, each checked by itself. For people: no decision depends on it. */
import { vaultsGroup, vaultKeysGroup, type Vault } from "@coffer/contract";
import { ChainError, findMember, LAG_MS, type VaultObject } from "@coffer/chain";
import { callOn, send } from "../../http/call.ts";
import { SdkError } from "../../http/errors.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import { requireBinding } from "../trust/seen-numbers.ts";
import { describeEnd, hasEnded, renderEnd } from "../members/membership-end.ts";
import { failed, keyServerLayer, ok, unknown, type LayerCheck } from "./layer-check.ts";
import { requireHeld } from "./vault-opener.ts";
import { vaultError } from "../vault-error.ts";
import { toVaultError } from "../vault-terms.ts";
import type { VaultRegistry } from "../vault-registry.ts";
import { requireSameNetwork, vaultRegistry } from "../client-vaults.ts";

/** The state of each layer for this client and one vault. */
export interface AccessCheck {
  /** UUID of the vault. */
  readonly vaultId: string;
  /** Sui address of the signer: `0x` and 64 lower-case hex digits. */
  readonly chainAddress: string;
  /** When the address's access ends, or ended, by itself, as the chain says; null: it has no end, or nothing is known. */
  readonly endsAt: string | null;
  /** The service accepts the credential, shows the vault, and serves its content to this chain address. */
  readonly api: LayerCheck;
  /** The allowlist on the chain names the address. */
  readonly chain: LayerCheck;
  /** Enough key servers answer. */
  readonly keyServers: LayerCheck;
  /** This machine's clock agrees with the service's and the chain's. */
  readonly clock: LayerCheck;
  /** The signing key is the one that the vault names for the address, and the signer's signatures for the address hold. */
  readonly key: LayerCheck;
}

/** Never rejects for a layer's failure; rejects with `shared_vault` for a client without `sharedVaults`. */
export async function checkVaultAccess(
  connection: Connection,
  vaultId: string,
  options?: CallOptions,
): Promise<AccessCheck> {
  const registry = vaultRegistry(connection);
  const service = await askService(registry, vaultId, options);
  const object = await readObject(registry, vaultId, service);
  const clock = checkClock(service, object);
  return {
    vaultId,
    chainAddress: registry.signer.chainAddress,
    endsAt: endOf(registry, object),
    api: service.check,
    chain:
      clock.state === "failed" && object instanceof SdkError
        ? unknown("Set the clock first.")
        : await checkAllowlist(registry, vaultId, object),
    keyServers: keyServerLayer(registry.chain.network, await registry.wrap().checkKeyServers()),
    clock,
    // A session key depends on the clock, too.
    key: clock.state === "failed" ? checkSigningKey(registry, object) : await checkKey(registry, object),
  };
}

interface ServiceAnswer {
  readonly check: LayerCheck;
  readonly vault: Vault | null;
  /** How far this machine's clock is ahead of the service's, in milliseconds; null when it sent no time. */
  readonly ahead: number | null;
}

async function askService(
  { connection, clock }: VaultRegistry,
  vaultId: string,
  options?: CallOptions,
): Promise<ServiceAnswer> {
  try {
    const { output, headers } = await send(connection, vaultsGroup.get, { params: { vaultId } }, options);
    const ahead = clock() - Date.parse(headers.get("date") ?? "");
    const check = await checkServed(connection, vaultId, options);
    return { check, vault: output.vault, ahead: Number.isNaN(ahead) ? null : ahead };
  } catch (error) {
    return { check: failed(error), vault: null, ahead: null };
  }
}

/** The service gives the vault's keys to its members alone, as it does contents. */
async function checkServed(connection: Connection, vaultId: string, options?: CallOptions): Promise<LayerCheck> {
  try {
    await callOn(connection, vaultKeysGroup.list, { params: { vaultId }, query: { limit: 1 } }, options);
    return ok("The service shows the vault to this credential, and serves what is in it.");
  } catch (error) {
    return failed(error);
  }
}

/** The object, or why it cannot be read or believed. The pin comes first: the service may be away, or lie. */
async function readObject(
  registry: VaultRegistry,
  vaultId: string,
  { vault }: ServiceAnswer,
): Promise<VaultObject | SdkError | null> {
  const { chain, pins, connection } = registry;
  try {
    const pin = await pins.load(connection.service.origin, vaultId);
    if (pin !== null) requireSameNetwork(registry, pin);
    if (pin?.shared === false && vault?.type === "shared")
      throw vaultError("vault_changed", "The vault was public when it was first met, and is shared now");
    const objectId = pin?.chainObjectId ?? vault?.chainObjectId ?? null;
    if (objectId === null) return null;
    const { generation: minGeneration, floor: minFloor, base: minBase } = await pins.loadHighest(objectId);
    const object = await chain.readVault(objectId, { maxAge: 0, minGeneration, minFloor, minBase });
    if (pin !== null) await requireHeld(registry, pin, object);
    return object;
  } catch (error) {
    const named = toVaultError(error);
    if (named instanceof SdkError) return named;
    throw error;
  }
}

async function checkAllowlist(
  registry: VaultRegistry,
  vaultId: string,
  object: VaultObject | SdkError | null,
): Promise<LayerCheck> {
  const { signer } = registry;
  if (object === null)
    return unknown(
      "Nobody told which chain object the vault is: the service did not show it, and it was not met before.",
    );
  // Whose clock it is, this machine's or the node's, the service has settled.
  if (isSkewed(object))
    return {
      state: "failed",
      cause: "chain_stale",
      nextStep:
        "This machine's clock agrees with the service's, and the chain node's does not. Name another chain node.",
    };
  if (object instanceof SdkError) return failed(object);
  const member = findMember(object, signer.chainAddress);
  const owner = object.owner.chainAddress;
  if (member !== null && hasEnded(member, Math.max(object.asOf, registry.clock()))) {
    const nextStep = `${describeEnd(member.endsAt)}: ask the vault's owner, ${owner}, to add ${signer.chainAddress} again.`;
    return { state: "failed", cause: "membership_ended", nextStep };
  }
  if (member !== null) {
    // A number that one node has shown once does not stop readers; it stops writers.
    const blocked = await requireBinding(registry, vaultId, object.objectId, object).then(() => null, failed);
    const end = renderEnd(member.endsAt);
    return blocked ?? ok(`The allowlist names this chain address${end === null ? "" : ` until ${end}`}.`);
  }
  const nextStep = `Ask the vault's owner, ${owner}, to add ${signer.chainAddress} as a member.`;
  return { state: "failed", cause: "not_a_member", nextStep };
}

function endOf({ signer }: VaultRegistry, object: VaultObject | SdkError | null): string | null {
  const member = object === null || object instanceof SdkError ? null : findMember(object, signer.chainAddress);
  return member === null ? null : renderEnd(member.endsAt);
}

/** Compares with the service and the chain node, each by itself. A node is read only by a clock that agrees with it. */
function checkClock({ ahead }: ServiceAnswer, object: VaultObject | SdkError | null): LayerCheck {
  const isRead = object !== null && !(object instanceof SdkError);
  if (ahead === null) {
    if (isSkewed(object)) return { state: "failed", cause: "clock_skew", nextStep: object.message };
    if (isRead) return ok("This machine's clock is right.");
    return unknown(
      "The time was not told: the service did not show the vault, and the chain node was not asked or did not answer.",
    );
  }
  if (Math.abs(ahead) <= LAG_MS) return ok("This machine's clock is right.");
  if (isRead) return unknown("The service's clock and the chain node's differ; this machine agrees with the node.");
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const off = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
  const nextStep = `Set this machine's clock. It is ${off} ${ahead > 0 ? "ahead of" : "behind"} the service's.`;
  return { state: "failed", cause: "clock_skew", nextStep };
}

function isSkewed(object: VaultObject | SdkError | null): object is SdkError {
  return object instanceof SdkError && object.code === "clock_skew";
}

async function checkKey(registry: VaultRegistry, object: VaultObject | SdkError | null): Promise<LayerCheck> {
  const signing = checkSigningKey(registry, object);
  // Do not ask for a signature if the address may not open the vault anyway.
  if (signing.state === "unknown") return signing;
  try {
    await registry.wrap().checkSession();
    return signing;
  } catch (error) {
    if (!(error instanceof ChainError)) return unknown("The signer did not sign for its address.");
    return error.code === "chain_unavailable" ? unknown("The signer's signature could not be checked.") : failed(error);
  }
}

function checkSigningKey({ signer }: VaultRegistry, object: VaultObject | SdkError | null): LayerCheck {
  if (object === null || object instanceof SdkError) return unknown("The vault on the chain could not be read.");
  const member = findMember(object, signer.chainAddress);
  if (member === null) return unknown("The allowlist names no key for this address.");
  if (signer.statements === undefined)
    return {
      state: "failed",
      cause: "signing_key_missing",
      nextStep: "Use a signer with a key that signs statements.",
    };
  const named = toHexKey(member.signingKey);
  if (named === "")
    return {
      state: "failed",
      cause: "signing_key_missing",
      nextStep: "Set the signing key with vaults.setSigningKey.",
    };
  if (named !== toHexKey(signer.statements.publicKey))
    return {
      state: "failed",
      cause: "wrong_chain_key",
      nextStep: "Use the signing key that the vault names for this address.",
    };
  return ok("The vault names this client's signing key.");
}

function toHexKey(key: Uint8Array): string {
  return Array.from(key, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
