/** The service compares this instead of names, so that one folder holds a name once (file-format §9). */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText } from "./bytes.ts";
import { encodeFolderId } from "./entry-statement.ts";
import { titleBytes } from "./fields.ts";
import { findNodeCrypto } from "./node-crypto.ts";
import { nodeSha256, sha256Of } from "./sha256.ts";
import type { VaultKey } from "./vault-key.ts";

/** In bytes. */
export const NAME_INDEX_BYTES = 16;

/** HMAC-SHA-256 under the subkey `name-index`, its first 16 bytes. The root is null; the name is put into NFC first. */
export function nameIndex(vaultKey: VaultKey, folderId: string | null, name: string): Uint8Array {
  return hmacSha256(vaultKey.subkey("name-index"), place(folderId, name)).slice(0, NAME_INDEX_BYTES);
}

/** The same for a vault with plain names, where nothing is hidden: SHA-256 of title and place, its first 16 bytes. */
export function plainNameIndex(folderId: string | null, name: string): Uint8Array {
  return sha256Of(titleBytes("coffer/name-index/v1"), place(folderId, name)).slice(0, NAME_INDEX_BYTES);
}

/** The block of SHA-256, which HMAC fills with the key (RFC 2104 §2). */
const HASH_BLOCK_BYTES = 64;

/** Two of Node's digests where there are some. Node's own HMAC makes objects that take longer than both. */
function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const node = findNodeCrypto();
  if (node === null) return hmac(sha256, key, message);
  const padded = (pad: number): Uint8Array => {
    const block = new Uint8Array(HASH_BLOCK_BYTES).fill(pad);
    for (let at = 0; at < key.length; at += 1) block[at] = pad ^ (key[at] ?? 0);
    return block;
  };
  const inner = nodeSha256(node, concatBytes(padded(0x36), message));
  return nodeSha256(node, concatBytes(padded(0x5c), inner));
}

function place(folderId: string | null, name: string): Uint8Array {
  return concatBytes(encodeFolderId(folderId), encodeText(name.normalize("NFC")));
}
