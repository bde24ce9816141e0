/** The local index of a vault's names, as a member's machine keeps it between runs (file-format §14). */
import { concatBytes, encodeUuid } from "./bytes.ts";
import { decryptMessage, encryptMessage } from "./cobblestone.ts";
import { sized, titleBytes } from "./fields.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import type { VaultKey } from "./vault-key.ts";

/** What the index is bound to, besides the vault object. */
export interface SearchIndexContext {
  /** UUID of the vault in lower case. */
  readonly vaultId: string;
  /** 32 bytes: the record of the vault key. */
  readonly keyId: Uint8Array;
}

/** One message under the subkey `search-index`. Rejects with KeyDisposedError. */
export async function encryptSearchIndex(
  platform: CryptoPlatform,
  vaultKey: VaultKey,
  place: SearchIndexContext,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  const context = contextOf(vaultKey, place);
  return vaultKey.whileHeld(() => encryptMessage(platform, vaultKey.subkey("search-index"), context, plaintext));
}

/** Rejects with CryptoError `wrong_key` for another vault, key or format, `damaged`; and with KeyDisposedError. */
export async function decryptSearchIndex(
  platform: CryptoPlatform,
  vaultKey: VaultKey,
  place: SearchIndexContext,
  encrypted: Uint8Array,
): Promise<Uint8Array> {
  const context = contextOf(vaultKey, place);
  return vaultKey.whileHeld(() => decryptMessage(platform, vaultKey.subkey("search-index"), context, encrypted));
}

/** "coffer/search-index/v1" ‖ 00 ‖ vault ‖ vault id ‖ keyId */
function contextOf({ vault }: VaultKey, { vaultId, keyId }: SearchIndexContext): Uint8Array {
  return concatBytes(titleBytes("coffer/search-index/v1"), vault, encodeUuid(vaultId), sized(keyId, 32, "key id"));
}
