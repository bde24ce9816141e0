import { encodeText } from "./bytes.ts";
import { sized } from "./fields.ts";
import { expandSha512 } from "./hkdf-expand.ts";
import { encodePlace, type Place } from "./place.ts";
import { SecretKey } from "./secret-key.ts";

/** In bytes. */
export const VAULT_KEY_BYTES = 32;

/** The uses of a subkey. The vault key itself encrypts nothing. */
export type SubkeyUse = "wrap" | "metadata" | "name-index" | "ladder" | "check" | "search-index";

/**
 * The key of one vault and one place in its history, opened. Its text forms are redacted. Whoever opens or makes one
 * owns it, and disposes it; the functions of this package hold it for as long as they use it.
 */
export class VaultKey extends SecretKey implements Place {
  /** Keeps it apart from other keys for the compiler. */
  readonly use = "vault";
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  readonly generation: bigint;
  readonly after: bigint;
  readonly #subkeys = new Map<SubkeyUse, Uint8Array>();

  /** Takes a copy. TypeError unless the key has 32 bytes, RangeError for an impossible place. */
  constructor(vault: Uint8Array, place: Place, bytes: Uint8Array) {
    super(bytes);
    encodePlace(place);
    this.vault = Uint8Array.from(sized(vault, 32, "vault"));
    this.generation = place.generation;
    this.after = place.after;
  }

  /**
   * HKDF-Expand-SHA-512(key, "coffer/<use>/v1", 32) (RFC 5869 §2.3; file-format §7). The 32 bytes themselves: never
   * change them, and use them across an `await` only while the key is held. Throws KeyDisposedError.
   */
  subkey(use: SubkeyUse): Uint8Array {
    this.requireUsable();
    const cached = this.#subkeys.get(use);
    if (cached !== undefined) return cached;
    const subkey = expandSha512(this.reveal(), encodeText(`coffer/${use}/v1`), 32);
    this.#subkeys.set(use, subkey);
    return subkey;
  }

  protected override overwrite(): void {
    super.overwrite();
    for (const subkey of this.#subkeys.values()) subkey.fill(0);
    this.#subkeys.clear();
  }
}

/** A fresh key from the runtime's random source. */
export function randomVaultKey(vault: Uint8Array, place: Place): VaultKey {
  const bytes = crypto.getRandomValues(new Uint8Array(VAULT_KEY_BYTES));
  try {
    return new VaultKey(vault, place, bytes);
  } finally {
    bytes.fill(0);
  }
}
