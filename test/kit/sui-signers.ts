/** Keys of Sui's schemes beside Ed25519, as wallets have them. zkLogin is not among them: it takes an identity provider and a node. */
import type { Signer } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { PasskeyKeypair } from "@mysten/sui/keypairs/passkey";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey, MultiSigSigner } from "@mysten/sui/multisig";
import { virtualPasskey } from "./virtual-passkey.ts";

export const SUI_SIGNERS: readonly (readonly [string, () => Promise<Signer>])[] = [
  ["secp256k1", () => Promise.resolve(new Secp256k1Keypair())],
  ["secp256r1", () => Promise.resolve(new Secp256r1Keypair())],
  ["a passkey", () => PasskeyKeypair.getPasskeyInstance(virtualPasskey())],
  ["a multisig of two of three", () => Promise.resolve(twoOfThree())],
];

export function twoOfThree(): Signer {
  const signers = [new Ed25519Keypair(), new Secp256k1Keypair(), new Secp256r1Keypair()] as const;
  const publicKeys = signers.map((each) => ({ publicKey: each.getPublicKey(), weight: 1 }));
  return new MultiSigSigner(MultiSigPublicKey.fromPublicKeys({ threshold: 2, publicKeys }), [signers[0], signers[1]]);
}
