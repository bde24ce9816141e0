import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hash,
  randomFillSync,
  type KeyObject,
} from "node:crypto";
import { copyBytes } from "../bytes.ts";
import { sha256 } from "../sha256.ts";
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
  expandSha512,
  sha256,
  createSha256,
  importChunkCipher: (key, baseNonce) => chunkCipher(createSecretKey(key), copyBytes(baseNonce)),
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

/** The block of SHA-512, which HMAC fills with the key (RFC 2104 §2), and its digest. */
const HASH_BLOCK_BYTES = 128;
const HASH_BYTES = 64;

/** The hashed bytes lie in memory that each call uses again and clears. A small file takes three calls. */
const outer = textual(HASH_BLOCK_BYTES + HASH_BYTES);
const inners = textual(1024);

/** Memory, and the same memory as Node writes text into it. */
function textual(length: number): { readonly bytes: Uint8Array; readonly text: Buffer } {
  const bytes = new Uint8Array(length);
  return { bytes, text: Buffer.from(bytes.buffer) };
}

/**
 * HKDF-Expand (RFC 5869 §2.3) of digests in one step each. An object of Node's for each HMAC costs more than its digests, and the
 * garbage collector some more. Digests come as text, one character for each byte: as Buffers they would take twice the time.
 */
function expandSha512(key: Uint8Array, info: Uint8Array, length: number): Uint8Array {
  if (length > 255 * HASH_BYTES) throw new RangeError("HKDF gives at most 255 blocks");
  if (key.length > HASH_BLOCK_BYTES) throw new RangeError("a key has at most 128 bytes");
  // Key, the block before, info, number. The first block begins later, with the key in the place of a block.
  const size = HASH_BLOCK_BYTES + HASH_BYTES + info.length + 1;
  const { bytes, text } = size <= inners.bytes.length ? inners : textual(size);
  const inner = bytes.subarray(0, size);
  inner.fill(0x36, HASH_BYTES, HASH_BYTES + HASH_BLOCK_BYTES);
  outer.bytes.fill(0x5c, 0, HASH_BLOCK_BYTES);
  for (let at = 0; at < key.length; at += 1) {
    const byte = key[at] ?? 0;
    inner[HASH_BYTES + at] = byte ^ 0x36;
    outer.bytes[at] = byte ^ 0x5c;
  }
  inner.set(info, HASH_BLOCK_BYTES + HASH_BYTES);
  const expanded = new Uint8Array(length);
  for (let at = 0; at < length; at += HASH_BYTES) {
    inner[size - 1] = at / HASH_BYTES + 1;
    const digest = hash("sha512", at === 0 ? inner.subarray(HASH_BYTES) : inner, "binary");
    outer.text.write(digest, HASH_BLOCK_BYTES, "latin1");
    if (at === 0) inner.copyWithin(0, HASH_BYTES, HASH_BYTES + HASH_BLOCK_BYTES);
    text.write(hash("sha512", outer.bytes, "binary"), HASH_BLOCK_BYTES, "latin1");
    expanded.set(inner.subarray(HASH_BLOCK_BYTES, HASH_BLOCK_BYTES + Math.min(HASH_BYTES, length - at)), at);
  }
  inner.fill(0);
  outer.bytes.fill(0);
  return expanded;
}

function createSha256(): RunningDigest {
  const running = createHash("sha256");
  return { update: (bytes) => void running.update(bytes), digest: () => new Uint8Array(running.digest()) };
}

function chunkCipher(key: KeyObject, baseNonce: Uint8Array): ChunkCipher {
  return {
    encrypt: (plaintext, firstChunk, final) => encrypt(key, baseNonce, plaintext, firstChunk, final),
    decrypt: (ciphertext, firstChunk) => decrypt(key, baseNonce, ciphertext, firstChunk),
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
