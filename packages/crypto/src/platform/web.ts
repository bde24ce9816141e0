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
): Promise<readonly Uint8Array[]> {
  const count = Math.floor(plaintext.length / CHUNK_BYTES) + (final ? 1 : 0);
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const chunk = copyable(plaintext.subarray(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES));
      return new Uint8Array(await crypto.subtle.encrypt(parameters(baseNonce, firstChunk + at), key, chunk));
    }),
  );
}

async function decrypt(
  key: CryptoKey,
  baseNonce: Uint8Array,
  ciphertext: Uint8Array,
  firstChunk: number,
): Promise<OpenedChunks> {
  const count = Math.ceil(ciphertext.length / BLOCK_BYTES);
  const outcomes = await Promise.allSettled(
    Array.from({ length: count }, async (_, at) => {
      const block = copyable(ciphertext.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES));
      return new Uint8Array(await crypto.subtle.decrypt(parameters(baseNonce, firstChunk + at), key, block));
    }),
  );
  const firstBad = outcomes.findIndex((outcome) => outcome.status === "rejected");
  const good = firstBad === -1 ? outcomes : outcomes.slice(0, firstBad);
  const pieces = good.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  return { pieces, complete: firstBad === -1 };
}

function parameters(baseNonce: Uint8Array, chunk: number): AesGcmParams {
  return { name: "AES-GCM", iv: copyable(chunkNonce(baseNonce, chunk)), tagLength: 128 };
}

/** WebCrypto refuses bytes of shared memory: those are copied, others are passed as they are. */
function copyable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
