/** Signers over private keys, and Sui's text form of those. */
import { ed25519StatementSigner, type StatementSigner } from "@coffer/crypto";
import { configurationError } from "../http/errors.ts";
import { Secret } from "../http/secret.ts";
import { decodeBech32, encodeBech32 } from "./bech32.ts";
import { addressOf } from "./address.ts";
import { publicKeyOf, randomSeed, signPersonalMessage, signTransaction } from "./ed25519.ts";
import type { Signer } from "./signer.ts";

const SEED_BYTES = 32;
/** Sui's flag byte of the Ed25519 scheme. */
const SCHEME = 0;
const PREFIX = "suiprivkey";

export function openSigner(privateKey: Uint8Array | string | Secret): Signer {
  const seed = parseKey(privateKey);
  // A closure, not a field: code that lists the signer's properties never meets the key.
  return Object.freeze({
    chainAddress: addressOf(publicKeyOf(seed)),
    signPersonalMessage: (bytes: Uint8Array) => Promise.resolve(signPersonalMessage(seed, bytes)),
    signTransaction: (bytes: Uint8Array) => Promise.resolve(signTransaction(seed, bytes)),
    statements: statementSignerOf(seed),
  });
}

export function openStatementSigner(privateKey: Uint8Array | string | Secret): StatementSigner {
  return Object.freeze(statementSignerOf(parseKey(privateKey)));
}

function statementSignerOf(seed: Uint8Array): StatementSigner {
  let opened: StatementSigner | null = null;
  return {
    publicKey: publicKeyOf(seed),
    sign: (message) => (opened ??= ed25519StatementSigner(seed)).sign(message),
  };
}

export function generateKey(): { readonly privateKey: Secret; readonly chainAddress: string } {
  const seed = randomSeed();
  const text = encodeBech32(PREFIX, Uint8Array.of(SCHEME, ...seed));
  return { privateKey: new Secret(text), chainAddress: addressOf(publicKeyOf(seed)) };
}

function parseKey(privateKey: Uint8Array | string | Secret): Uint8Array {
  const key = privateKey instanceof Secret ? privateKey.reveal() : privateKey;
  if (key instanceof Uint8Array) {
    if (key.length !== SEED_BYTES) throw configurationError("An Ed25519 private key is 32 bytes");
    return Uint8Array.from(key);
  }
  const bytes = decodeBech32(PREFIX, key.trim());
  if (bytes?.length !== 1 + SEED_BYTES) throw configurationError("The chain private key is not a suiprivkey1… text");
  if (bytes[0] !== SCHEME) throw configurationError("Only Ed25519 chain keys are taken; pass a Signer for others");
  return bytes.subarray(1);
}
