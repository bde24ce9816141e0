import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  randomFillSync,
  type KeyObject,
} from "node:crypto";
import { copyBytes } from "../bytes.ts";
import { expandSha512 } from "../hkdf-expand.ts";
import {
  BLOCK_BYTES,
  CHUNK_BYTES,
  chunkNonce,
  TAG_BYTES,
  type ChunkCipher,
  type CryptoPlatform,
  type OpenedChunks,
  type RunningDigest,
} from "../platform/platform.ts";

/** Node's own ciphers and hashes: no promise per chunk, the key imported once. */
export const nodePlatform: CryptoPlatform = {
  name: "node",
  randomBytes: drawBytes,
  expandSha512: (key, info, length) => {
    // Imported once: createHmac takes five times as long with plain bytes, because it first asks what kind of key
    // they are.
    const imported = createSecretKey(key);
    return expandSha512(key, info, length, (_, ...pieces) => hmacSha512(imported, pieces));
  },
  sha256: (bytes) => new Uint8Array(hash("sha256", bytes, "buffer")),
  createSha256,
  importChunkCipher: async (key, baseNonce) => chunkCipher(createSecretKey(key), copyBytes(baseNonce)),
};

const pool = new Uint8Array(4096);
let drawn = pool.length;

/** A small file takes four draws, and each one from the system costs as much as a digest. No byte is given twice or kept. */
function drawBytes(length: number): Uint8Array {
  if (length > pool.length) return randomFillSync(new Uint8Array(length));
  if (drawn + length > pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  const bytes = pool.slice(drawn, drawn + length);
  pool.fill(0, drawn, drawn + length);
  drawn += length;
  return bytes;
}

function hmacSha512(key: KeyObject, pieces: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac("sha512", key);
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}

function createSha256(): RunningDigest {
  const running = createHash("sha256");
  return { update: (bytes) => void running.update(bytes), digest: () => new Uint8Array(running.digest()) };
}

function chunkCipher(key: KeyObject, baseNonce: Uint8Array): ChunkCipher {
  return {
    encrypt: async (plaintext, firstChunk, final) => encrypt(key, baseNonce, plaintext, firstChunk, final),
    decrypt: async (ciphertext, firstChunk) => decrypt(key, baseNonce, ciphertext, firstChunk),
  };
}

function encrypt(
  key: KeyObject,
  baseNonce: Uint8Array,
  plaintext: Uint8Array,
  firstChunk: number,
  final: boolean,
): readonly Uint8Array[] {
  const count = Math.floor(plaintext.length / CHUNK_BYTES) + (final ? 1 : 0);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < count; at += 1) {
    const cipher = createCipheriv("aes-256-gcm", key, chunkNonce(baseNonce, firstChunk + at));
    pieces.push(cipher.update(plaintext.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)));
    cipher.final();
    pieces.push(cipher.getAuthTag());
  }
  return pieces;
}

function decrypt(key: KeyObject, baseNonce: Uint8Array, ciphertext: Uint8Array, firstChunk: number): OpenedChunks {
  const count = Math.ceil(ciphertext.length / BLOCK_BYTES);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < count; at += 1) {
    const block = ciphertext.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES);
    const chunk = openBlock(key, chunkNonce(baseNonce, firstChunk + at), block);
    if (chunk === null) return { pieces, complete: false };
    // As a plain Uint8Array: `slice` of a Buffer is no copy.
    pieces.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length));
  }
  return { pieces, complete: true };
}

const WHOLE_TAGS = { authTagLength: TAG_BYTES };

/** Null when it does not authenticate: it drops the output of `update` unless `final` agrees. */
function openBlock(key: KeyObject, nonce: Uint8Array, block: Uint8Array): Uint8Array | null {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, WHOLE_TAGS);
  decipher.setAuthTag(block.subarray(block.length - TAG_BYTES));
  const chunk = decipher.update(block.subarray(0, block.length - TAG_BYTES));
  try {
    decipher.final();
    return chunk;
  } catch {
    return null;
  }
}
