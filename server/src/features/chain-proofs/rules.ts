/**
 * Whether the holder of a chain address signed a text: Sui personal messages of Ed25519 keys (encryption design §4). The
 * texts are the contract's; this service makes them itself from what it knows and never takes one from a request.
 */
import { MAX_CLOCK_SKEW } from "@coffer/contract";
import { verifyAsync } from "@noble/ed25519";
import { blake2b } from "@noble/hashes/blake2.js";
import { ServiceError } from "../../http/errors.ts";

/** Sui's flag byte of the Ed25519 scheme: the first of a serialised signature and of what an address is the hash of. */
const ED25519 = 0x00;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const SERIALIZED_BYTES = 1 + SIGNATURE_BYTES + KEY_BYTES;

/** Scope PersonalMessage, version 0, application Sui: no transaction's digest begins with them. */
const PERSONAL_MESSAGE = Uint8Array.of(3, 0, 0);

export interface ChainProof {
  readonly chainAddress: string;
  /** What must have been signed. */
  readonly text: string;
  /** flag ‖ signature ‖ public key in base64. */
  readonly signature: string;
}

/**
 * Rejects with `signature_invalid` unless the address's own key signed the text; resolves with that key in base64. Strict: `zip215: false` takes only
 * canonical encodings and S below the group's order (RFC 8032 §5.1.7), and refuses keys of small order, for which one
 * signature can fit many texts (Chalkias, Garillot, Nikolaenko, "Taming the many EdDSAs", SSR 2020).
 */
export async function requireProof({ chainAddress, text, signature }: ChainProof): Promise<string> {
  const { signed, publicKey } = parseSignature(signature);
  if (addressOf(publicKey) !== chainAddress) {
    throw new ServiceError("signature_invalid", "The key that signed is not the chain address's");
  }
  if (!(await verifyAsync(signed, digestOf(text), publicKey, { zip215: false }))) {
    // Which service and which chain is what two sides most often disagree about, and no secret.
    const [, origin, chain] = text.split("\n");
    throw new ServiceError(
      "signature_invalid",
      `The signature is not of the text for this address and purpose (${origin}, ${chain})`,
    );
  }
  return Buffer.from(publicKey).toString("base64");
}

/** Throws `clock_skew` when a signature was made more than 5 minutes before or after now (decisions §4). */
export function requireFresh(signedAt: number, now: number): void {
  if (Math.abs(now - signedAt) > MAX_CLOCK_SKEW) throw new ServiceError("clock_skew");
}

/** The origin that signatures must name, or `not_configured`: what a Host header says binds a signature to nothing. */
export function requireServiceOrigin(serviceOrigin: string | null): string {
  if (serviceOrigin !== null) return serviceOrigin;
  throw new ServiceError(
    "not_configured",
    "Signatures of chain addresses name the service's origin, which this server does not know: its operator sets SERVICE_PUBLIC_URL",
  );
}

function parseSignature(text: string): { signed: Uint8Array; publicKey: Uint8Array } {
  const bytes = Buffer.from(text, "base64");
  // Node's decoder skips what it does not know: only a text that encodes back to itself is one signature's one form.
  if (bytes.toString("base64") !== text) throw new ServiceError("signature_invalid", "The signature is not base64");
  if (bytes[0] !== ED25519) {
    throw new ServiceError(
      "signature_invalid",
      "Only Ed25519 signers are accepted here (flag 0x00): no multisig, zkLogin, passkey or ECDSA signature",
    );
  }
  if (bytes.length !== SERIALIZED_BYTES) {
    throw new ServiceError(
      "signature_invalid",
      `An Ed25519 signature is ${SERIALIZED_BYTES} bytes: flag, signature, key`,
    );
  }
  return { signed: bytes.subarray(1, 1 + SIGNATURE_BYTES), publicKey: bytes.subarray(1 + SIGNATURE_BYTES) };
}

/** Sui address: BLAKE2b-256 of flag ‖ public key. */
function addressOf(publicKey: Uint8Array): string {
  const bytes = blake2b(Buffer.concat([Uint8Array.of(ED25519), publicKey]), { dkLen: 32 });
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** BLAKE2b-256 of intent ‖ BCS `vector<u8>` of the text in UTF-8. */
function digestOf(text: string): Uint8Array {
  const bytes = Buffer.from(text, "utf8");
  return blake2b(Buffer.concat([PERSONAL_MESSAGE, uleb128(bytes.length), bytes]), { dkLen: 32 });
}

function uleb128(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
