import { concatBytes, copyBytes, encodeText, equalBytes } from "./bytes.ts";
import { CryptoError, damaged } from "./errors.ts";
import type { ChunkCipher, CryptoPlatform, OpenedChunks, Soon } from "./platform/platform.ts";
import { BLOCK_BYTES, CHUNK_BYTES, TAG_BYTES } from "./platform/platform.ts";
import { MAX_CHUNKS, MESSAGE_PREFIX_BYTES } from "./sizes.ts";

/** Cobblestone-256 of c2sp.org/chunked-encryption: HKDF-Expand-SHA-512 and AES-256-GCM (file-format §2). */
const LABEL = concatBytes(encodeText("c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM"), Uint8Array.of(0));

export const KEY_BYTES = 32;
export const SALT_BYTES = 24;
export const COMMITMENT_BYTES = 32;
const NONCE_BYTES = 12;

/** Encrypts and decrypts the chunks of one message. Holds its keys where no log and no inspect sees them. */
export class MessageKeys {
  /** Random, unique for the input key; the first 24 bytes of the message. */
  readonly salt: Uint8Array;
  /** Binds the message to key, salt and context; the next 32 bytes of the message. */
  readonly commitment: Uint8Array;
  readonly #cipher: ChunkCipher;

  constructor(salt: Uint8Array, commitment: Uint8Array, cipher: ChunkCipher) {
    this.salt = salt;
    this.commitment = commitment;
    this.#cipher = cipher;
  }

  /** Chunks from `firstChunk` on, as stored, in pieces; see {@link ChunkCipher.encrypt}. Throws RangeError at 2^38 chunks. */
  async encryptPieces(plaintext: Uint8Array, firstChunk: number, final: boolean): Promise<readonly Uint8Array[]> {
    if (!final && plaintext.length % CHUNK_BYTES !== 0) throw new RangeError("only the final chunk is short");
    const end = firstChunk + Math.floor(plaintext.length / CHUNK_BYTES) + (final ? 1 : 0);
    if (end > MAX_CHUNKS) throw new RangeError("a message has at most 2^38 chunks");
    return this.#cipher.encrypt(plaintext, firstChunk, final);
  }

  /** Chunks from `firstChunk` on; see {@link ChunkCipher.decrypt}. Throws CryptoError damaged for lengths that no chunks have. */
  async decryptPieces(ciphertext: Uint8Array, firstChunk: number): Promise<OpenedChunks> {
    const last = ciphertext.length % BLOCK_BYTES;
    const end = firstChunk + Math.ceil(ciphertext.length / BLOCK_BYTES);
    if (end > MAX_CHUNKS) throw damaged("chunks", "a message has at most 2^38 chunks");
    if (last > 0 && last < TAG_BYTES) throw damaged("chunks", "the last chunk is shorter than its tag");
    return this.#cipher.decrypt(ciphertext, firstChunk);
  }

  /** As {@link MessageKeys.encryptPieces}, in one buffer. */
  async encrypt(plaintext: Uint8Array, firstChunk: number, final: boolean): Promise<Uint8Array> {
    return concatBytes(...(await this.encryptPieces(plaintext, firstChunk, final)));
  }

  /** As {@link MessageKeys.decryptPieces}, in one buffer. */
  async decrypt(ciphertext: Uint8Array, firstChunk: number): Promise<{ plaintext: Uint8Array; complete: boolean }> {
    const { complete, pieces } = await this.decryptPieces(ciphertext, firstChunk);
    return { plaintext: joined(pieces), complete };
  }
}

/** One piece is the caller's as it is. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : concatBytes(...pieces);
}

/**
 * Key, base nonce and commitment of one message. Throws CryptoError `wrong_key` unless `key` has 32 bytes, and TypeError
 * unless `salt` has 24.
 * The same key, salt and context give the same message for the same plaintext; a salt must never serve two plaintexts.
 */
export async function deriveMessageKeys(
  platform: CryptoPlatform,
  key: Uint8Array,
  salt: Uint8Array,
  context: Uint8Array,
): Promise<MessageKeys> {
  const { cipher, commitment } = await derive(platform, key, salt, context);
  return new MessageKeys(copyBytes(salt), commitment, cipher);
}

interface Derived {
  readonly commitment: Uint8Array;
  readonly cipher: ChunkCipher;
}

function derive(platform: CryptoPlatform, key: Uint8Array, salt: Uint8Array, context: Uint8Array): Soon<Derived> {
  // The specification has it refused like any other key that is not the message's (Wycheproof, InvalidKeySize).
  if (key.length !== KEY_BYTES) throw new CryptoError("wrong_key", "commitment", "a Cobblestone-256 key has 32 bytes");
  if (salt.length !== SALT_BYTES) throw new TypeError("a Cobblestone salt has 24 bytes");
  const length = KEY_BYTES + NONCE_BYTES + COMMITMENT_BYTES;
  const derived = platform.expandSha512(key, concatBytes(LABEL, salt, context), length);
  const nonce = derived.subarray(KEY_BYTES, KEY_BYTES + NONCE_BYTES);
  const commitment = copyBytes(derived, KEY_BYTES + NONCE_BYTES);
  const imported = platform.importChunkCipher(derived.subarray(0, KEY_BYTES), nonce);
  if (imported instanceof Promise)
    return imported.then((cipher) => ({ commitment, cipher })).finally(() => derived.fill(0));
  derived.fill(0);
  return { commitment, cipher: imported };
}

/** The keys of a message that exists: its first 56 bytes name the salt and must hold the commitment. */
export async function openMessageKeys(
  platform: CryptoPlatform,
  key: Uint8Array,
  prefix: Uint8Array,
  context: Uint8Array,
): Promise<MessageKeys> {
  if (prefix.length !== MESSAGE_PREFIX_BYTES) throw damaged("length", "the message ends before its commitment");
  const { cipher, commitment } = await derive(platform, key, prefix.subarray(0, SALT_BYTES), context);
  requireCommitment(commitment, prefix);
  return new MessageKeys(copyBytes(prefix, 0, SALT_BYTES), commitment, cipher);
}

function requireCommitment(commitment: Uint8Array, prefix: Uint8Array): void {
  if (!equalBytes(commitment, prefix.subarray(SALT_BYTES)))
    throw new CryptoError("wrong_key", "commitment", "this is not the key of the message, or not its place");
}

/** Encrypts a small plaintext whole, under a fresh salt. For files there is `encryptFile`. */
export async function encryptMessage(
  platform: CryptoPlatform,
  key: Uint8Array,
  context: Uint8Array,
  plaintext: Uint8Array,
): Promise<Uint8Array> {
  const salt = platform.randomBytes(SALT_BYTES);
  const { cipher, commitment } = await derive(platform, key, salt, context);
  return concatBytes(salt, commitment, ...(await cipher.encrypt(plaintext, 0, true)));
}

/** Decrypts a message whole; gives nothing unless all of it is good. Throws CryptoError wrong_key or damaged. */
export async function decryptMessage(
  platform: CryptoPlatform,
  key: Uint8Array,
  context: Uint8Array,
  message: Uint8Array,
): Promise<Uint8Array> {
  const prefix = message.subarray(0, MESSAGE_PREFIX_BYTES);
  if (prefix.length !== MESSAGE_PREFIX_BYTES) throw damaged("length", "the message ends before its commitment");
  const { cipher, commitment } = await derive(platform, key, prefix.subarray(0, SALT_BYTES), context);
  requireCommitment(commitment, prefix);
  const chunks = message.subarray(MESSAGE_PREFIX_BYTES);
  if (chunks.length % BLOCK_BYTES < TAG_BYTES) throw damaged("chunks", "the message has no final chunk");
  const { complete, pieces } = await cipher.decrypt(chunks, 0);
  if (!complete) throw damaged("chunks", "a chunk does not authenticate");
  return joined(pieces);
}
