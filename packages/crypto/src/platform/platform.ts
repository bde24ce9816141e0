import { copyBytes } from "../bytes.ts";

/**
 * The codec's needs of the runtime. `webPlatform` runs everywhere; `@coffer/crypto/node` has a faster one. Both pass
 * the same vectors, and each reads the other's bytes.
 */
export interface CryptoPlatform {
  readonly name: string;
  /** Bytes from the runtime's secure generator. */
  randomBytes(length: number): Uint8Array;
  /** HKDF-Expand with SHA-512 (RFC 5869 §2.3), without Extract. */
  expandSha512(key: Uint8Array, info: Uint8Array, length: number): Uint8Array;
  sha256(bytes: Uint8Array): Uint8Array;
  /** SHA-256 over pieces. */
  createSha256(): RunningDigest;
  /** Takes a message's AEAD key and base nonce; neither can be read back. */
  importChunkCipher(key: Uint8Array, baseNonce: Uint8Array): Soon<ChunkCipher>;
}

/** At once from a runtime that can. A promise for each step of each small message took longer than its cipher. */
export type Soon<Value> = Value | Promise<Value>;

export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Ends it. */
  digest(): Uint8Array;
}

/**
 * AES-256-GCM over consecutive chunks of one message, many per call. Results come in the runtime's own pieces. A
 * caller that needs one buffer copies them once, into a buffer of its choice. The caller checks lengths and counts
 * (cobblestone.ts).
 */
export interface ChunkCipher {
  /**
   * Encrypts chunks of 16384 bytes from `firstChunk` on. With `final`, the rest, even if empty, is the short final
   * chunk; without, there is no rest. It does not keep the input.
   */
  encrypt(plaintext: Uint8Array, firstChunk: number, final: boolean): Soon<readonly Uint8Array[]>;
  /**
   * Decrypts blocks of 16400 bytes from `firstChunk` on, and a shorter last one of at least 16. Stops at the first that does not
   * authenticate and never gives a byte of it.
   */
  decrypt(ciphertext: Uint8Array, firstChunk: number): Soon<OpenedChunks>;
}

export interface OpenedChunks {
  /** All good chunks before the first bad one. */
  readonly pieces: readonly Uint8Array[];
  /** Whether all of them were good. */
  readonly complete: boolean;
}

export const CHUNK_BYTES = 16384;
export const TAG_BYTES = 16;
/** A full chunk as it is stored. */
export const BLOCK_BYTES = CHUNK_BYTES + TAG_BYTES;

/** Base nonce XOR chunk number as a 12-byte big-endian integer (c2sp.org/chunked-encryption, "AEAD usage"). */
export function chunkNonce(baseNonce: Uint8Array, chunk: number): Uint8Array {
  const nonce = copyBytes(baseNonce);
  // Numbers stay below 2^38: five bytes hold them.
  for (let [at, rest] = [11, chunk]; rest > 0; at -= 1, rest = Math.floor(rest / 256))
    nonce[at] = (nonce[at] ?? 0) ^ (rest & 0xff);
  return nonce;
}
