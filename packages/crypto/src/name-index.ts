/** The service compares this instead of names, so that one folder holds a name once (file-format §9). */
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, encodeText } from "./bytes.ts";
import { encodeFolderId } from "./entry-statement.ts";
import { titleBytes } from "./fields.ts";
import { findNodeCrypto } from "./node-crypto.ts";
import { nodeSha256 } from "./sha256.ts";
import type { VaultKey } from "./vault-key.ts";

/** In bytes. */
export const NAME_INDEX_BYTES = 16;

/** HMAC-SHA-256 under the subkey `name-index`, its first 16 bytes. The root is null; the name is put into NFC first. */
export function nameIndex(vaultKey: VaultKey, folderId: string | null, name: string): Uint8Array {
  return hmacSha256(vaultKey.subkey("name-index"), place(folderId, name)).slice(0, NAME_INDEX_BYTES);
}

/** The same for a vault with plain names, where nothing is hidden: SHA-256 of title and place, its first 16 bytes. */
export function plainNameIndex(folderId: string | null, name: string): Uint8Array {
  return sha256(concatBytes(titleBytes("coffer/name-index/v1"), place(folderId, name))).slice(0, NAME_INDEX_BYTES);
}

/** The block of SHA-256, which HMAC fills with the key (RFC 2104 §2), and its digest. */
const HASH_BLOCK_BYTES = 64;
const HASH_BYTES = 32;

/** A folder and a name; the hashed bytes lie in memory that each call uses again and clears. */
const inner = new Uint8Array(HASH_BLOCK_BYTES + 16 + 1024);
const outer = new Uint8Array(HASH_BLOCK_BYTES + HASH_BYTES);

/** Two of Node's digests where there are some. Node's own HMAC makes objects that take longer than both. */
function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const node = findNodeCrypto();
  const size = HASH_BLOCK_BYTES + message.length;
  if (node === null || size > inner.length) return hmac(sha256, key, message);
  inner.fill(0x36, 0, HASH_BLOCK_BYTES);
  outer.fill(0x5c, 0, HASH_BLOCK_BYTES);
  for (let at = 0; at < key.length; at += 1) {
    const byte = key[at] ?? 0;
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  inner.set(message, HASH_BLOCK_BYTES);
  outer.set(nodeSha256(node, inner.subarray(0, size)), HASH_BLOCK_BYTES);
  const code = nodeSha256(node, outer);
  inner.fill(0, 0, size);
  outer.fill(0);
  return code;
}

function place(folderId: string | null, name: string): Uint8Array {
  return concatBytes(encodeFolderId(folderId), encodeText(name.normalize("NFC")));
}
