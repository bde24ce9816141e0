/**
 * What this page encrypts and decrypts, and with which keys, for the scan of the whole suite (CONTRIBUTING, "The scan"), whose own taps
 * are in Node. Said to the test over the browser's pipe, never over a connection.
 */
import { base64 } from "./base64.ts";

/** In base64. */
export interface WatchedSecrets {
  /** Keys of AES-GCM. */
  readonly keys: readonly string[];
  /** What went into or came out of AES-GCM: whole up to 512 bytes, 64 bytes of each longer one. */
  readonly plaintexts: readonly string[];
}

const WHOLE = 512;
const PIECE = 64;
const MOST_PIECES = 3_000;

/** Begins to watch. Call it before anything that may keep `crypto.subtle`'s functions. */
export function watchSecrets(): () => WatchedSecrets {
  const keys = new Set<string>();
  const plaintexts = new Set<string>();
  let pieces = 0;
  const note = (bytes: Uint8Array): void => {
    if (bytes.length <= WHOLE) plaintexts.add(base64(bytes));
    else if ((pieces += 1) <= MOST_PIECES) {
      const at = Math.floor(Math.random() * (bytes.length - PIECE));
      plaintexts.add(base64(bytes.subarray(at, at + PIECE)));
    }
  };
  replace("encrypt", (original) => (...given) => {
    if (isGcm(given[0])) note(viewOf(given[2] as BufferSource));
    return original(...given);
  });
  replace("decrypt", (original) => async (...given) => {
    const opened = (await original(...given)) as ArrayBuffer;
    if (isGcm(given[0])) note(new Uint8Array(opened));
    return opened;
  });
  replace("importKey", (original) => (...given) => {
    if (given[0] === "raw" && isGcm(given[2])) keys.add(base64(viewOf(given[1] as BufferSource)));
    return original(...given);
  });
  return () => ({ keys: [...keys], plaintexts: [...plaintexts] });
}

type Method = (...given: unknown[]) => unknown;

/** Puts another in the place of a function of `crypto.subtle`, which is handed the one that was there. */
export function replace(
  name: "encrypt" | "decrypt" | "sign" | "verify" | "importKey",
  make: (original: Method) => Method,
): void {
  const prototype = SubtleCrypto.prototype as unknown as Record<string, Method>;
  const before = prototype[name]!;
  prototype[name] = function (this: SubtleCrypto, ...given) {
    return make((...passed) => before.apply(this, passed))(...given);
  };
}

function isGcm(algorithm: unknown): boolean {
  return /gcm/i.test(typeof algorithm === "string" ? algorithm : (algorithm as Algorithm).name);
}

function viewOf(data: BufferSource): Uint8Array {
  return data instanceof ArrayBuffer
    ? new Uint8Array(data)
    : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
