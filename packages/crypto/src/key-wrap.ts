/** The port for vault keys: who may open one is decided outside this package, by an allowlist on a chain. */

import type { Place } from "./place.ts";

/** Which vault key: one is made for one vault and one place in its history. It is bound to the sealed key, so it cannot be exchanged. */
export interface KeyPlace extends Place {
  /** 32 bytes: the vault object's id on chain. */
  readonly vault: Uint8Array;
  /** 32 bytes: the chain address of who made the key. */
  readonly creator: Uint8Array;
}

/** A vault key as it is stored: 1 to 3584 bytes (file-format §7), with the place it claims to be for. */
export interface SealedVaultKey {
  readonly sealedKey: Uint8Array;
  readonly place: KeyPlace;
}

/**
 * Wraps vault keys for the members of a vault.
 *
 * Failure contract:
 * - `wrap` resolves with 1 to 3584 bytes that only a member of the vault at a place that is not earlier can unwrap. It keeps
 *   neither the key nor a copy. It rejects when what it needs cannot be reached; nothing is stored anywhere by it, so it may be
 *   called again.
 * - `unwrap` answers in the order of its items, one fresh array of 32 bytes each, or rejects as a whole: no partial result, and
 *   never bytes that were sealed for another place. An empty list resolves with an empty list and asks nobody. However many items
 *   there are, each key server is asked once per 100 of them.
 * - Before anybody is asked, `unwrap` checks the form of each item (size, place, key servers against the accepted sets); an item that
 *   is malformed or names others rejects with `CryptoError` `damaged` at step `record`.
 * - A refusal is told apart from a failure: the implementation rejects with its own error whose `code` says whether the caller is
 *   not a member or the key servers cannot be asked.
 * - Neither function puts a key into an error, a log or an inspection.
 */
export interface VaultKeyWrap {
  wrap(key: Uint8Array, place: KeyPlace): Promise<Uint8Array>;
  unwrap(items: readonly SealedVaultKey[]): Promise<Uint8Array[]>;
}
