/** sign(t, b): the signature of statements and records (file-format §6). */
import { blake2b } from "@noble/hashes/blake2.js";
import { concatBytes, equalBytes } from "./bytes.ts";
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES, verifyEd25519 } from "./ed25519.ts";
import { sized, titleBytes } from "./fields.ts";
import { isCachedSignature, cacheSignature } from "./signature-cache.ts";
import type { StatementSigner } from "./statement-signer.ts";

/** The purposes of a signature. */
export type SignedTitle =
  | "coffer/vault-key/v1"
  | "coffer/vault-key-made/v1"
  | "coffer/version/v1"
  | "coffer/entry/v1"
  | "coffer/upload/v1"
  | "coffer/export/v1";

/** Scope PersonalMessage, version 0, application Sui: no transaction's digest begins with them. */
const PERSONAL_MESSAGE = Uint8Array.of(3, 0, 0);

/** The 32 bytes that are signed: BLAKE2b-256 of the intent and the BCS vector of `title` ‖ 00 ‖ `body`, a Sui personal message. */
export function statementDigest(title: SignedTitle, body: Uint8Array): Uint8Array {
  const start = titleBytes(title);
  const length = uleb128(start.length + body.length);
  return blake2b(concatBytes(PERSONAL_MESSAGE, length, start, body), { dkLen: 32 });
}

/** 64 bytes. Rejects as the signer does, and with RangeError when it gives anything but a signature's length. */
export async function signStatement(
  title: SignedTitle,
  body: Uint8Array,
  signer: StatementSigner,
): Promise<Uint8Array> {
  return Uint8Array.from(sized(await signer.sign(statementDigest(title, body)), SIGNATURE_BYTES, "signature"));
}

/** What was verified last, the newest first: signature, key and all that was signed. Known again without a digest. */
const recent: Uint8Array[] = [];

/** A version and its entry have one signature, and a reader asks for both, of a few files at once. */
const MOST_RECENT = 8;

/** Strict (file-format §6); false for anything but exactly such a signature. */
export async function verifyStatement(
  title: SignedTitle,
  body: Uint8Array,
  publicKey: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  // A copy: it notes what it verified, whatever happens to the caller's bytes meanwhile.
  const whole = concatBytes(signature, publicKey, titleBytes(title), body);
  if (recent.some((known) => equalBytes(known, whole))) return true;
  const signed = {
    publicKey: whole.subarray(SIGNATURE_BYTES, SIGNATURE_BYTES + PUBLIC_KEY_BYTES),
    digest: statementDigest(title, body),
    signature: whole.subarray(0, SIGNATURE_BYTES),
  };
  if (!isCachedSignature(signed)) {
    if (!(await verifyEd25519(signed.publicKey, signed.digest, signed.signature))) return false;
    cacheSignature(signed);
  }
  recent.unshift(whole);
  recent.length = Math.min(recent.length, MOST_RECENT);
  return true;
}

/** BCS length (github.com/diem/bcs, "ULEB128-Encoded Integers"). */
function uleb128(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
