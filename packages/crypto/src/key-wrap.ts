/** The port for vault keys. An allowlist on a chain, outside this package, decides who may open one. */

import type { Place } from "./place.ts";

/**
 * Names a vault key: each is made for one vault and one place in its history. The sealed key is bound to these, so
 * nobody can exchange it.
 */
export interface KeyBinding extends Place {
  /** 32 bytes: the vault object's id on chain. */
  readonly vault: Uint8Array;
  /** 32 bytes: the chain address of the key's maker. */
  readonly creator: Uint8Array;
}

/** A vault key as it is stored: 1 to 3584 bytes (file-format §7), with the place it claims to be for. */
export interface SealedVaultKey {
  readonly sealedKey: Uint8Array;
  readonly place: KeyBinding;
}

/**
 * Wraps vault keys for the members of a vault.
 * Failure contract:
 * - `wrap` resolves with 1 to 3584 bytes. Only a member of the vault at a place that is not earlier can unwrap them.
 *   It keeps neither the key nor a copy. It rejects when it cannot reach a server that it needs. It stores nothing, so
 *   you may call it again.
 * - `unwrap` resolves in the order of its items, one fresh array of 32 bytes each, or rejects as a whole. The caller
 *   overwrites the arrays of both functions. It gives no
 *   partial result, and never bytes that were sealed for another place. An empty list resolves with an empty list and
 *   asks nobody. It asks each key server once per 100 items.
 * - Before it asks anybody, `unwrap` checks the form of each item (size, place, key servers against the accepted
 *   sets). It rejects with `CryptoError` `damaged` at step `record` for an item that is malformed or names other
 *   servers.
 * - A refusal differs from a failure. The implementation rejects with its own error, whose `code` says whether the
 *   caller is not a member or the key servers cannot be asked.
 * - Neither function puts a key into an error, a log or an inspection.
 */
export interface VaultKeyWrap {
  wrap(key: Uint8Array, place: KeyBinding): Promise<Uint8Array>;
  unwrap(items: readonly SealedVaultKey[]): Promise<Uint8Array[]>;
}
