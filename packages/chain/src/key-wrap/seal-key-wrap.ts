/** Vault keys wrapped by Seal: crypto's port for vault keys over key servers that ask the chain who is a member. */
import { CryptoError, MAX_SEALED_KEY_BYTES, type SealedVaultKey, type VaultKeyWrap } from "@coffer/crypto";
import { InvalidPackageError } from "@mysten/seal";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { toHex } from "@mysten/sui/utils";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { ChainError } from "../errors.ts";
import type { KeyServerSet, NetworkConfiguration } from "../network.ts";
import type { TransactionSigner } from "../signer.ts";
import type { VaultObjects } from "./approval.ts";
import { fetchUserKeys, MAX_BATCH } from "./fetch-user-keys.ts";
import { openKeyServers, type KeyServerGroup } from "./key-server-group.ts";
import { checkKeyServers, type KeyServerStatus } from "./key-server-status.ts";
import type { KeyWrapParts } from "./key-wrap-parts.ts";
import { associatedData, freshIdentity } from "./sealed-key-binding.ts";
import { cacheReads } from "./read-cache.ts";
import { parseSealedKey, type CheckedKey } from "./sealed-key.ts";
import { findSessionProblem, KeyServerSessions } from "./key-server-session.ts";

export interface SealKeyWrapOptions {
  readonly client: SuiGrpcClient;
  readonly network: NetworkConfiguration;
  readonly signer: TransactionSigner;
  readonly vaultObjects: VaultObjects;
  /** Carries the requests to key servers; a local net in the same process brings its own. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined;
  /** Waits between attempts at key servers that are behind. */
  readonly sleep?: ((milliseconds: number) => Promise<void>) | undefined;
  /** Milliseconds one request to a key server may take, and 200 more for each key in it; 10,000 by default. */
  readonly timeout?: number | undefined;
  /** Keys in one request to a key server: 100, the most that it accepts, by default. */
  readonly batch?: number | undefined;
}

/**
 * Besides the port's contract:
 * - rejects with `ChainError`, whose `code` says why keys are not given;
 * - the codes of access are `not_a_member`, `wrong_chain_key`, `sign_in_ended` and `address_alias`;
 * - the codes of key servers are `key_servers_unavailable` and `key_servers_behind` (after two minutes of trying);
 * - the codes of the chain are `clock_skew`, `chain_stale`, `chain_unavailable`, `network_changed` and
 *   `vault_not_found`;
 * - rejects with `CryptoError` `damaged` for a malformed sealed key;
 * - keeps no vault key and no user key between calls, only a session key of ten minutes and what it read of the key
 *   servers.
 */
export interface SealKeyWrap extends VaultKeyWrap {
  /** Asks the node for what `unwrap` needs to know of the key servers, while something else is waited for. Never fails: `unwrap` asks again. */
  prepare(): void;
  /** Quick and advisory: whether each key server of the writing set answers. Never rejects; no decision depends on it. */
  checkKeyServers(): Promise<KeyServerStatus[]>;
  /**
   * Whether key servers would believe the signer: opens the session that the next unwrapping would open, or checks the
   * open one. Advisory, as above.
   * @throws ChainError `wrong_chain_key`, `sign_in_ended`, `chain_unavailable`.
   */
  checkSession(): Promise<void>;
  /** Forgets the session key: at logout and after a removal. Later calls are refused. */
  close(): void;
}

/** Sends nothing before its first use. */
export function sealVaultKeyWrap(options: SealKeyWrapOptions): SealKeyWrap {
  buildNoTables();
  const parts = partsOf(options);
  let closed = false;
  const open = (): KeyWrapParts => {
    if (closed) throw new TypeError("the key wrap is closed");
    return parts;
  };
  return {
    prepare: () => {
      const [newest] = parts.network.keyServerSets;
      if (!closed && newest !== undefined) openGroup(parts, newest, 0).catch(() => undefined);
    },
    wrap: async (key, place) => await wrapKey(open(), key, place),
    unwrap: async (items) => await unwrapKeys(open(), items),
    checkKeyServers: async () => await checkKeyServers(open()),
    checkSession: async () => await checkSession(open()),
    close: () => {
      closed = true;
      parts.sessions.forget();
      parts.reads.forget();
    },
  };
}

/**
 * Seal multiplies the curves' base points once or twice for each session. The tables that make one multiplication fast
 * take 100 ms to build, more than all of those without tables. In the copy of @noble/curves that Seal uses.
 */
function buildNoTables(): void {
  for (const { Point } of [bls12_381.G1, bls12_381.G2]) Point.BASE.precompute(1);
}

function partsOf(options: SealKeyWrapOptions): KeyWrapParts {
  const { client, network, signer, vaultObjects } = options;
  const clock = options.clock ?? Date.now;
  return {
    client,
    network,
    signer,
    vaultObjects,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
    sleep: options.sleep ?? ((milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))),
    timeout: options.timeout ?? 10_000,
    batch: options.batch ?? MAX_BATCH,
    reads: cacheReads(client),
    sessions: new KeyServerSessions({ client, signer, packageId: network.originalPackageId, clock }),
  };
}

async function checkSession({ sessions, client }: KeyWrapParts): Promise<void> {
  const problem = await findSessionProblem(await sessions.open(), client);
  if (problem !== null) throw problem;
}

async function wrapKey(parts: KeyWrapParts, key: Uint8Array, place: SealedVaultKey["place"]): Promise<Uint8Array> {
  const { network } = parts;
  const [writing] = network.keyServerSets;
  if (writing === undefined) throw new TypeError("the network configuration names no key servers");
  if (key.length !== 32) throw new TypeError("a vault key has 32 bytes");
  const group = await openGroup(parts, writing, 0);
  const sealed = await encrypt(group, {
    packageId: network.originalPackageId,
    id: toHex(freshIdentity(place)),
    data: key,
    aad: associatedData(place),
  });
  if (sealed.length > MAX_SEALED_KEY_BYTES) throw new TypeError("too many key servers: the sealed key is too large");
  // A sealed key must be one that we would open.
  parseSealedKey({ sealedKey: sealed, place }, network);
  return sealed;
}

async function encrypt(
  { seal, set }: KeyServerGroup,
  message: { packageId: string; id: string; data: Uint8Array; aad: Uint8Array },
): Promise<Uint8Array> {
  try {
    const { encryptedObject, key } = await seal.encrypt({ ...message, threshold: set.threshold });
    // The key of the inner encryption opens the object without any key server.
    key.fill(0);
    return encryptedObject;
  } catch (cause) {
    throw new ChainError(cause instanceof InvalidPackageError ? "network_changed" : "chain_unavailable", { cause });
  }
}

async function unwrapKeys(parts: KeyWrapParts, items: readonly SealedVaultKey[]): Promise<Uint8Array[]> {
  const checked = items.map((item) => parseSealedKey(item, parts.network));
  const keyBytes = new Map<CheckedKey, Uint8Array>();
  for (const set of parts.network.keyServerSets) {
    const ofSet = checked.filter((key) => key.set === set);
    if (ofSet.length === 0) continue;
    const keys = await unwrapFrom(parts, await openGroup(parts, set, ofSet.length), ofSet);
    for (const [at, key] of ofSet.entries()) keyBytes.set(key, keys[at] ?? new Uint8Array());
  }
  return checked.map((key) => keyBytes.get(key) ?? new Uint8Array());
}

async function unwrapFrom(
  parts: KeyWrapParts,
  group: KeyServerGroup,
  keys: readonly CheckedKey[],
): Promise<Uint8Array[]> {
  const decryptWith = await fetchUserKeys(parts, group, keys);
  const keyBytes: Uint8Array[] = [];
  for (const key of keys) keyBytes.push(await decryptWith(key).catch(refuseSealedKey));
  if (keyBytes.some((key) => key.length !== 32)) refuseSealedKey(undefined);
  return keyBytes;
}

/** The key servers gave the right keys, so the sealed key does not match its own description. */
function refuseSealedKey(cause: unknown): never {
  throw new CryptoError("damaged", "record", "The vault key is not sealed as it must be: it does not open", { cause });
}

async function openGroup(parts: KeyWrapParts, set: KeyServerSet, keys: number): Promise<KeyServerGroup> {
  const { fetch, reads, network } = parts;
  // A key server computes for each key; a slow one that serves a development machine takes 50 ms.
  const atOnce = Math.min(keys, parts.batch);
  const timeout = parts.timeout + atOnce * 200;
  return await openKeyServers(set, { client: reads.client, fetch, timeout, keys: atOnce, network: network.network });
}
