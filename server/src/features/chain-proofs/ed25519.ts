/** Personal messages of Ed25519 keys, strictly and without asking anybody: the fast path of {@link file://./rules.ts}. */
import { verifyAsync } from "@noble/ed25519";
import { blake2b } from "@noble/hashes/blake2.js";
import type { SignatureVerdict, SignedMessage } from "../../ports/message-signatures.ts";

/** Sui's flag byte of the Ed25519 scheme: the first of a serialised signature and of what an address is the hash of. */
export const ED25519 = 0x00;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const SERIALIZED_BYTES = 1 + SIGNATURE_BYTES + KEY_BYTES;

/** Scope PersonalMessage, version 0, application Sui: no transaction's digest begins with them. */
const PERSONAL_MESSAGE = Uint8Array.of(3, 0, 0);

/**
 * The verdict, and the key that signed. Strict: `zip215: false` takes only canonical encodings and S below the group's
 * order (RFC 8032 §5.1.7). It refuses keys of small order, for which one signature can fit many texts (Chalkias,
 * Garillot, Nikolaenko, "Taming the many EdDSAs", SSR 2020).
 */
export async function verifyEd25519({ chainAddress, message, signature }: SignedMessage): Promise<{
  readonly verdict: SignatureVerdict;
  readonly publicKey: Uint8Array;
}> {
  const publicKey = signature.subarray(1 + SIGNATURE_BYTES);
  if (signature.length !== SERIALIZED_BYTES) return { verdict: "invalid", publicKey };
  if (addressOf(publicKey) !== chainAddress) return { verdict: "other_address", publicKey };
  const signed = signature.subarray(1, 1 + SIGNATURE_BYTES);
  const isSigned = await verifyAsync(signed, digestOf(message), publicKey, { zip215: false });
  return { verdict: isSigned ? "valid" : "invalid", publicKey };
}

/** Sui address: BLAKE2b-256 of flag ‖ public key. */
function addressOf(publicKey: Uint8Array): string {
  const bytes = blake2b(Buffer.concat([Uint8Array.of(ED25519), publicKey]), { dkLen: 32 });
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** BLAKE2b-256 of intent ‖ BCS `vector<u8>` of the message. */
function digestOf(message: Uint8Array): Uint8Array {
  return blake2b(Buffer.concat([PERSONAL_MESSAGE, uleb128(message.length), message]), { dkLen: 32 });
}

function uleb128(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
