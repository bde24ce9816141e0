/** The service compares this instead of names, so that one folder holds a name once (file-format §9). */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText } from "./bytes.ts";
import { encodeFolderId } from "./entry-statement.ts";
import { titleBytes } from "./fields.ts";
import { sha256Of } from "./sha256.ts";
import type { VaultKey } from "./vault-key.ts";

/** In bytes. */
export const NAME_INDEX_BYTES = 16;

/** HMAC-SHA-256 under the subkey `name-index`, its first 16 bytes. The root is null; the name is put into NFC first. Throws KeyDisposedError. */
export function nameIndex(vaultKey: VaultKey, folderId: string | null, name: string): Uint8Array {
  return hmac(sha256, vaultKey.subkey("name-index"), place(folderId, name)).slice(0, NAME_INDEX_BYTES);
}

/** The same for a vault with plain names, where nothing is hidden: SHA-256 of title and place, its first 16 bytes. */
export function plainNameIndex(folderId: string | null, name: string): Uint8Array {
  return sha256Of(titleBytes("coffer/name-index/v1"), place(folderId, name)).slice(0, NAME_INDEX_BYTES);
}

function place(folderId: string | null, name: string): Uint8Array {
  return concatBytes(encodeFolderId(folderId), encodeText(name.normalize("NFC")));
}
