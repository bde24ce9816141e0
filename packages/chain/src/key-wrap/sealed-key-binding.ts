/** The bytes that bind a sealed vault key to its place (encryption design §2; file-format §7). */
import type { KeyBinding } from "@coffer/crypto";

/** vault(32) ‖ generation(8) ‖ after(8) ‖ random(16). */
export const IDENTITY_BYTES = 64;
const NONCE_BYTES = 16;
const AAD_LABEL = "coffer/vault-key/v1";

/**
 * A fresh identity. A user key is the same for its identity for ever, so its holder could open everything sealed under
 * it later. No identity is used twice.
 */
export function freshIdentity(place: KeyBinding): Uint8Array {
  const identity = new Uint8Array(IDENTITY_BYTES);
  identity.set(identityStart(place));
  crypto.getRandomValues(identity.subarray(IDENTITY_BYTES - NONCE_BYTES));
  return identity;
}

/** The beginning of every identity of the place: vault ‖ generation ‖ after. */
export function identityStart({ vault, generation, after }: KeyBinding): Uint8Array {
  return joinBytes(vault, encodeU64(generation), encodeU64(after));
}

/** label ‖ 00 ‖ vault ‖ generation ‖ after ‖ creator. */
export function associatedData(place: KeyBinding): Uint8Array {
  const label = new TextEncoder().encode(AAD_LABEL);
  return joinBytes(label, new Uint8Array(1), identityStart(place), place.creator);
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function encodeU64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}

function joinBytes(...pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}
