/**
 * Signatures that this process found to be true, or made with a key of its own. A client that lists a folder, reads in
 * it and writes there again meets the same ones each time. Verifying one takes as long as everything else about a
 * small file. Key, digest and signature alone decide whether a signature is true, and the memory compares all of them.
 * It does not remember who may sign: each check looks that up in the vault.
 */
import { concatBytes, latin1 } from "./bytes.ts";
import { sized } from "./fields.ts";

export interface SignedDigest {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 32 bytes: the signed digest. */
  readonly digest: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** Two for a file: some 800 KiB. The one met longest ago gives way. */
export const MAX_CACHED_SIGNATURES = 4096;

const cache = new Set<string>();

/** RangeError for fields of other lengths. */
export function isCachedSignature(signed: SignedDigest): boolean {
  const name = nameOf(signed);
  if (!cache.delete(name)) return false;
  cache.add(name);
  return true;
}

/** For code that has verified it or made it, and nobody else. RangeError for fields of other lengths. */
export function cacheSignature(signed: SignedDigest): void {
  cache.add(nameOf(signed));
  const oldest = cache.size > MAX_CACHED_SIGNATURES ? cache.keys().next().value : undefined;
  if (oldest !== undefined) cache.delete(oldest);
}

/** All bytes, one character each: fixed lengths, so that no two signatures share a name. */
function nameOf({ publicKey, digest, signature }: SignedDigest): string {
  const fields = [sized(publicKey, 32, "public key"), sized(digest, 32, "digest"), sized(signature, 64, "signature")];
  return latin1(concatBytes(...fields));
}
