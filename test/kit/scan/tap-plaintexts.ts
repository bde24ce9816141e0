/**
 * Notes whatever goes into or comes out of AES-GCM in this process, and Ed25519 private keys. All that members keep to themselves is
 * encrypted with it: content, names, wrapped data keys, and the vault keys that Seal wraps. What the service encrypts for itself
 * with a key of its own (`server/src/secrets`) is no secret of a member.
 */
import crypto, { KeyObject, type CipherGCM, type DecipherGCM } from "node:crypto";
import { nameIn } from "./metadata-name.ts";
import type { ScanUnit } from "./unit.ts";

/** Code whose keys are the service's or the local chain's own. */
const NOT_A_MEMBER = /\/(?:server\/(?:src|dist\/program)|dev\/localnet\/src)\//;
/** Code that makes chain keys. */
const MAKES_CHAIN_KEYS = /ed25519|keypair/i;
const KEY_BYTES = 32;
const WINDOW_BYTES = 16;
/** Windows with fewer different bytes are text such as `=====` or a counter's, which stand in many places. */
const FEWEST_DIFFERENT = 10;
/** Two of each chunk of a file: a chunk that stands somewhere in the clear is found by either. */
const WINDOWS_EACH = 2;
/** Half of the windows go to what comes first; of what follows, one piece in as many. */
const SPARSE = 16;
/** RFC 8410 §10.3: what stands before the 32 bytes of an Ed25519 private key in PKCS #8. */
const PKCS8_ED25519 = "302e020100300506032b657004220420";

export function tapKeysAndPlaintexts(unit: ScanUnit): void {
  const note = openNotes(unit);
  tapNodeCiphers(note, unit);
  tapWebCiphers(note);
  tapChance(note);
  const { createPrivateKey } = crypto;
  crypto.createPrivateKey = (input) => {
    const key = typeof input === "object" && "key" in input ? input.key : input;
    if (key instanceof Uint8Array) note.privateKey(key);
    return createPrivateKey(input);
  };
}

interface Notes {
  key(bytes: Uint8Array): void;
  chainKey(seed: Uint8Array): void;
  privateKey(pkcs8: Uint8Array): void;
  plaintext(bytes: Uint8Array): void;
}

function openNotes(unit: ScanUnit): Notes {
  const draw = openDraw(unit.seed);
  let windows = 0;
  let { generation } = unit;
  const content = (bytes: Uint8Array): void => {
    if (generation !== unit.generation) [windows, generation] = [0, unit.generation];
    if (windows >= unit.mostWindows || (windows > unit.mostWindows / 2 && draw(SPARSE) !== 0)) return;
    for (let count = 0; count < WINDOWS_EACH; count += 1) {
      const at = draw(bytes.length - WINDOW_BYTES + 1);
      const window = bytes.subarray(at, at + WINDOW_BYTES);
      if (new Set(window).size < FEWEST_DIFFERENT) continue;
      unit.noteSecret("content", window);
      windows += 1;
    }
  };
  return {
    chainKey: (seed) => unit.noteSecret("chain-key", seed),
    key: (bytes) => bytes.length === KEY_BYTES && unit.noteSecret("key", bytes),
    privateKey(pkcs8) {
      const hex = Buffer.from(pkcs8).toString("hex");
      if (hex.startsWith(PKCS8_ED25519) && !calledOutsideMembers())
        unit.noteSecret("chain-key", pkcs8.subarray(PKCS8_ED25519.length / 2));
    },
    plaintext(bytes) {
      const name = nameIn(bytes);
      if (bytes.length === KEY_BYTES) unit.noteSecret("key", bytes);
      else if (name !== null) unit.noteSecret("name", name);
      else if (bytes.length >= WINDOW_BYTES) content(bytes);
    },
  };
}

/** Mulberry32 (public domain): the same seed chooses the same windows. Answers whole numbers below `limit`. */
function openDraw(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

function tapNodeCiphers(note: Notes, unit: ScanUnit): void {
  const { createCipheriv, createDecipheriv } = crypto;
  /** In which unit each key was noted last. */
  const seen = new WeakMap<KeyObject, number>();
  const begin = (algorithm: string, key: unknown): boolean => {
    if (!/gcm/i.test(algorithm) || calledOutsideMembers()) return false;
    if (key instanceof KeyObject) {
      if (seen.get(key) !== unit.generation) note.key(key.export());
      seen.set(key, unit.generation);
    } else if (key instanceof Uint8Array) note.key(key);
    return true;
  };
  crypto.createCipheriv = ((algorithm: string, key: never, ...rest: never[]) => {
    const cipher = (createCipheriv as (...given: unknown[]) => CipherGCM)(algorithm, key, ...rest);
    if (!begin(algorithm, key)) return cipher;
    const update = cipher.update.bind(cipher) as (...given: unknown[]) => Buffer;
    cipher.update = ((data: string | Uint8Array, ...encodings: unknown[]) => {
      note.plaintext(bytesOf(data, encodings[0]));
      return update(data, ...encodings);
    }) as typeof cipher.update;
    return cipher;
  }) as typeof createCipheriv;
  crypto.createDecipheriv = ((algorithm: string, key: never, ...rest: never[]) => {
    const decipher = (createDecipheriv as (...given: unknown[]) => DecipherGCM)(algorithm, key, ...rest);
    if (!begin(algorithm, key)) return decipher;
    const update = decipher.update.bind(decipher) as (...given: unknown[]) => Buffer | string;
    const final = decipher.final.bind(decipher) as (...given: unknown[]) => Buffer;
    const opened: Uint8Array[] = [];
    decipher.update = ((data: unknown, ...encodings: unknown[]) => {
      const piece = update(data, ...encodings);
      opened.push(bytesOf(piece, encodings[1]));
      return piece;
    }) as typeof decipher.update;
    decipher.final = ((...given: unknown[]) => {
      // Throws when it does not authenticate. What was opened then is no plaintext: of plaintext it is the ciphertext.
      const last = final(...given);
      opened.forEach(note.plaintext);
      return last;
    }) as typeof decipher.final;
    return decipher;
  }) as typeof createDecipheriv;
}

function bytesOf(data: string | Uint8Array, encoding: unknown): Uint8Array {
  return typeof data === "string" ? Buffer.from(data, encoding as BufferEncoding) : data;
}

function tapWebCiphers(note: Notes): void {
  const prototype = Object.getPrototypeOf(crypto.webcrypto.subtle) as SubtleCrypto;
  const { encrypt, decrypt, importKey } = prototype;
  const isGcm = (algorithm: unknown): boolean => {
    const name = typeof algorithm === "string" ? algorithm : (algorithm as { readonly name?: unknown } | null)?.name;
    return typeof name === "string" && /gcm/i.test(name) && !calledOutsideMembers();
  };
  prototype.encrypt = function (this: SubtleCrypto, algorithm, key, data) {
    if (isGcm(algorithm)) note.plaintext(viewOf(data));
    return encrypt.call(this, algorithm, key, data);
  };
  prototype.decrypt = async function (this: SubtleCrypto, algorithm, key, data) {
    const isNoted = isGcm(algorithm);
    const opened = await decrypt.call(this, algorithm, key, data);
    if (isNoted) note.plaintext(new Uint8Array(opened));
    return opened;
  };
  prototype.importKey = function (this: SubtleCrypto, ...given: unknown[]) {
    const [format, data, algorithm] = given;
    const bytes = data instanceof ArrayBuffer || ArrayBuffer.isView(data) ? viewOf(data) : null;
    if (bytes !== null && format === "raw" && isGcm(algorithm)) note.key(bytes);
    if (bytes !== null && format === "pkcs8") note.privateKey(bytes);
    return (importKey as (...all: unknown[]) => Promise<CryptoKey>).apply(this, given);
  } as typeof importKey;
}

function viewOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Chain keys are drawn by libraries of their own: whoever asks for as many bytes as a seed has makes one. */
function tapChance(note: Notes): void {
  const prototype = Object.getPrototypeOf(crypto.webcrypto) as Crypto;
  const { getRandomValues } = prototype;
  prototype.getRandomValues = function <Values extends Parameters<typeof getRandomValues>[0]>(
    this: Crypto,
    values: Values,
  ) {
    const drawn = getRandomValues.call(this, values);
    if (drawn instanceof Uint8Array && drawn.length === KEY_BYTES) {
      const files = callers();
      const isChainKey =
        files.some((file) => MAKES_CHAIN_KEYS.test(file)) && !files.some((file) => NOT_A_MEMBER.test(file));
      if (isChainKey) note.chainKey(drawn);
    }
    return drawn;
  } as typeof getRandomValues;
}

/** Whether whoever asks for cryptography is code of the service or of the local chain. */
function calledOutsideMembers(): boolean {
  return callers().some((file) => NOT_A_MEMBER.test(file));
}

/** The files of whoever calls, nearest first. */
function callers(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 12;
  // As they are: whoever renders stacks here, a test runner with its source maps, takes its time.
  Error.prepareStackTrace = (_error, sites) => sites;
  const sites = new Error().stack as unknown as NodeJS.CallSite[];
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return sites.map((site) => site.getFileName() ?? "");
}
