import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "./bytes.ts";

/**
 * HKDF-Expand (RFC 5869 §2.3) with SHA-512 and without Extract. The RFC wants a key as long as the hash.
 * c2sp.org/chunked-encryption takes a uniformly random one of 32 bytes, which the `expand` of @noble/hashes and of
 * node:crypto refuse.
 */
export function expandSha512(key: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  if (length > 255 * 64) throw new RangeError("HKDF gives at most 255 blocks");
  const blocks: Uint8Array[] = [];
  let block: Uint8Array = new Uint8Array(0);
  while (blocks.length * 64 < length) {
    block = hmac(sha512, key, concatBytes(block, info, Uint8Array.of(blocks.length + 1)));
    blocks.push(block);
  }
  const expanded = concatBytes(...blocks).subarray(0, length);
  for (const each of blocks) each.fill(0);
  return expanded;
}
