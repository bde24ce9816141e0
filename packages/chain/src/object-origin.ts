/**
 * Types of a transaction's own objects: their ids are hashes over its digest, so that no node can put another object
 * in their place.
 */
import { fromBase58, toHex } from "@mysten/sui/utils";
import { blake2b } from "@noble/hashes/blake2.js";

/** In front of the ids of objects, among what Sui hashes (`HashingIntentScope::RegularObjectId` in sui-types). */
const OBJECT_ID_SCOPE = 0xf1;
/** Our transactions make one object, or a package with its upgrade capability; paying for them makes few. */
const MOST = 16;

/**
 * Whether the transaction of that digest made the object: the id is BLAKE2b-256(f1 ‖ digest ‖ count(u64, little endian)) for one of the
 * first counts.
 *
 * @param digest base58, computed from the bytes that were signed: not the one that a node answers with.
 */
export function isCreatedBy(digest: string, objectId: string): boolean {
  const digestBytes = fromBase58(digest);
  const hashed = new Uint8Array(1 + digestBytes.length + 8);
  hashed.set([OBJECT_ID_SCOPE, ...digestBytes]);
  return Array.from({ length: MOST }, (_, count) => {
    hashed[1 + digestBytes.length] = count;
    return `0x${toHex(blake2b(hashed, { dkLen: 32 }))}`;
  }).includes(objectId);
}
