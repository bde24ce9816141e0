import { nativeCrypto } from "../http/native-crypto.ts";
import { sha256 } from "@noble/hashes/sha2.js";

/** SHA-256 over chunks. `digest` ends it. */
export interface Hasher {
  update(chunk: Uint8Array): void;
  digest(): Uint8Array;
}

/**
 * The runtime's own SHA-256 if it takes chunks (Node, Bun, Deno). Otherwise @noble/hashes: WebCrypto has no chunked
 * digest.
 */
export async function createHasher(): Promise<Hasher> {
  const native = nativeCrypto();
  if (native !== null) {
    const hash = native.createHash("sha256");
    return { update: (chunk) => void hash.update(chunk), digest: () => new Uint8Array(hash.digest()) };
  }
  const hash = sha256.create();
  return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest() };
}

/** The digest of one piece. */
export async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  const hasher = await createHasher();
  hasher.update(bytes);
  return hasher.digest();
}

/** Node's, which takes a tenth of the time; absent in browsers. */
const { Buffer: native } = globalThis as { readonly Buffer?: typeof Buffer };

export function toHex(bytes: Uint8Array): string {
  if (native) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  if (native) return native.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Null for anything but base64 with its padding, in the one form that its bytes have (RFC 4648 §4, §3.5). */
export function fromBase64(text: string): Uint8Array | null {
  if (!native) return fromBase64Portably(text);
  const bytes = native.from(text, "base64");
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : null;
}

/** The same without Node's; exported for the test that compares both. */
export function fromBase64Portably(text: string): Uint8Array | null {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/.test(text)) return null;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  // A loop: a mapped copy takes far longer, and every file of a list brings several of these.
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** Base64 or base64url to lower-case hex; null when it is not 32 bytes. */
export function sha256FromBase64(text: string): string | null {
  if (!/^[\w+/-]{43}=?$/.test(text)) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return toHex(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
}
