/** Somebody who signed in with an identity provider: a zkLogin signer whose proof is the development prover's attestation. */
import { createPrivateKey, hash, sign } from "node:crypto";
import type { TransactionSigner } from "@coffer/chain";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { computeZkLoginAddressFromSeed, genAddressSeed, getZkLoginSignature } from "@mysten/sui/zklogin";

/** Its claim, with what stands around it in the token, must fill whole groups of three bytes. */
const ISSUER = "https://id.example";
const MARK = "coffer development prover 1";
/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** @param maxEpoch Until which epoch of the local chain the ephemeral key is good. */
export function zkloginUserOf(subject: string, maxEpoch: number): TransactionSigner {
  const ephemeral = Ed25519Keypair.generate();
  const addressSeed = genAddressSeed(1n, "sub", subject, "coffer").toString();
  const inputs = {
    addressSeed,
    proofPoints: { a: [MARK], b: [["proves nothing"]], c: [attest(addressSeed, ephemeral, maxEpoch)] },
    issBase64Details: { value: base64Url(`"iss":"${ISSUER}",`), indexMod4: 0 },
    headerBase64: base64Url('{"alg":"RS256","typ":"JWT"}'),
  };
  const wrap = (userSignature: string): string => getZkLoginSignature({ inputs, maxEpoch, userSignature });
  return {
    chainAddress: computeZkLoginAddressFromSeed(BigInt(addressSeed), ISSUER, false),
    signPersonalMessage: async (message) => wrap((await ephemeral.signPersonalMessage(message)).signature),
    signTransaction: async (transaction) => wrap((await ephemeral.signTransaction(transaction)).signature),
  };
}

function attest(addressSeed: string, ephemeral: Ed25519Keypair, maxEpoch: number): string {
  const secret = Buffer.concat([PKCS8_PREFIX, hash("sha256", MARK, "buffer")]);
  const key = createPrivateKey({ key: secret, format: "der", type: "pkcs8" });
  const attested = JSON.stringify([MARK, ISSUER, addressSeed, ephemeral.getPublicKey().toSuiPublicKey(), maxEpoch]);
  return sign(null, Buffer.from(attested), key).toString("base64url");
}

function base64Url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
