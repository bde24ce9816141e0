/** The vault keys that one client, or one opened export, has in memory. They are overwritten together. */
import type { VaultKey } from "@coffer/crypto";

export class OwnedKeys {
  readonly #keys = new Set<VaultKey>();
  #isDisposed = false;

  /** Takes the key over. After {@link dispose} it disposes it at once: an opening that was under way brings no key back. */
  own(key: VaultKey): VaultKey {
    if (this.#isDisposed) key.dispose();
    else this.#keys.add(key);
    return key;
  }

  /** For a key that nobody will use: it lost a race, or could not be published. */
  discard(key: VaultKey): void {
    this.#keys.delete(key);
    key.dispose();
  }

  /** Overwrites all keys, each when its last use is over. Every later use fails with KeyDisposedError. */
  dispose(): void {
    this.#isDisposed = true;
    for (const key of this.#keys) key.dispose();
    this.#keys.clear();
  }
}
