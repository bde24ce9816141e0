import { sha256 } from "@noble/hashes/sha2.js";
import { copyBytes } from "../bytes.ts";
import { expandSha512 } from "../hkdf-expand.ts";
import {
  BLOCK_BYTES,
  CHUNK_BYTES,
  chunkNonce,
  type ChunkCipher,
  type CryptoPlatform,
  type OpenedChunks,
  type RunningDigest,
} from "./platform.ts";

/**
 * Runs wherever there is WebCrypto: browsers, workers, Deno, Bun, Node. AES-GCM is the runtime's; hashes are of @noble/hashes, as
 * WebCrypto has neither HKDF without Extract nor a digest over pieces.
 */
export const webPlatform: CryptoPlatform = {
  name: "web",
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  expandSha512: (key, info, length) => expandSha512(key, info, length),
  sha256: (bytes) => sha256(bytes),
  createSha256,
  importChunkCipher,
};

function createSha256(): RunningDigest {
  const hash = sha256.create();
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

async function importChunkCipher(keyBytes: Uint8Array, baseNonce: Uint8Array): Promise<ChunkCipher> {
  const key = await crypto.subtle.importKey("raw", copyable(keyBytes), "AES-GCM", false, ["encrypt", "decrypt"]);
  const nonce = copyBytes(baseNonce);
  return {
    encrypt: (plaintext, firstChunk, final) => encrypt(key, nonce, plaintext, firstChunk, final),
    decrypt: (ciphertext, firstChunk) => decrypt(key, nonce, ciphertext, firstChunk),
  };
}

async function encrypt(
  key: CryptoKey,
  baseNonce: Uint8Array,
  plaintext: Uint8Array,
  firstChunk: number,
  final: boolean,
): Promise<Uint8Array> {
  const count = Math.floor(plaintext.length / CHUNK_BYTES) + (final ? 1 : 0);
  const blocks = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      crypto.subtle.encrypt(
        parameters(baseNonce, firstChunk + at),
        key,
        copyable(plaintext.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES)),
      ),
    ),
  );
  return join(blocks, BLOCK_BYTES);
}

async function decrypt(
  key: CryptoKey,
  baseNonce: Uint8Array,
  ciphertext: Uint8Array,
  firstChunk: number,
): Promise<OpenedChunks> {
  const count = Math.ceil(ciphertext.length / BLOCK_BYTES);
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, (_, at) =>
      crypto.subtle.decrypt(
        parameters(baseNonce, firstChunk + at),
        key,
        copyable(ciphertext.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES)),
      ),
    ),
  );
  const firstBad = outcomes.findIndex((outcome) => outcome.status === "rejected");
  const good = outcomes.slice(0, firstBad === -1 ? count : firstBad);
  const chunks = good.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  return { plaintext: join(chunks, CHUNK_BYTES), complete: firstBad === -1 };
}

function parameters(baseNonce: Uint8Array, chunk: number): AesGcmParams {
  return { name: "AES-GCM", iv: copyable(chunkNonce(baseNonce, chunk)), tagLength: 128 };
}

/** All pieces have `stride` bytes, the last perhaps fewer. */
function join(pieces: readonly ArrayBuffer[], stride: number): Uint8Array {
  const last = pieces.at(-1);
  if (last === undefined) return new Uint8Array(0);
  if (pieces.length === 1) return new Uint8Array(last);
  const all = new Uint8Array((pieces.length - 1) * stride + last.byteLength);
  pieces.forEach((piece, at) => all.set(new Uint8Array(piece), at * stride));
  return all;
}

/** WebCrypto refuses bytes of shared memory: those are copied, others are passed as they are. */
function copyable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
