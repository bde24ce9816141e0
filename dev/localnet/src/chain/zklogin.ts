/**
 * zkLogin signatures on the local chain. A real chain verifies a Groth16 proof. This one verifies the attestation of
 * the development prover, which takes the proof's place and proves nothing elsewhere. It verifies everything else like
 * a real one: the address, the epoch, and the ephemeral key's signature.
 */
import { createPrivateKey, createPublicKey, hash, verify } from "node:crypto";
import { toBase64 } from "@mysten/bcs";
import type { IntentScope } from "@mysten/sui/cryptography";

/** The development prover's name and, hashed, its key: server/src/drivers/prover/development.ts. */
const MARK = "coffer development prover 1";
/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** As on Sui: an ephemeral key is good for so many epochs. */
const MAX_EPOCHS_AHEAD = 30;

export interface ZkloginClaim {
  /** What the intent's scope says it is, in BCS. */
  readonly message: Uint8Array;
  readonly scope: IntentScope;
  /** Serialised: flag byte first. */
  readonly signature: Uint8Array;
  readonly address: string;
  readonly epoch: number;
}

/** Null when the signature is good, else why it is not. Never throws for what it is given. */
export async function zkloginProblem(claim: ZkloginClaim): Promise<string | null> {
  try {
    return await findProblem(claim);
  } catch {
    return "the signature cannot be read as a zkLogin signature";
  }
}

async function findProblem({ message, scope, signature, address, epoch }: ZkloginClaim): Promise<string | null> {
  const { parseZkLoginSignature, ZkLoginPublicIdentifier } = await import("@mysten/sui/zklogin");
  const { parseSerializedSignature } = await import("@mysten/sui/cryptography");
  const { publicKeyFromRawBytes } = await import("@mysten/sui/verify");
  const { inputs, maxEpoch, userSignature } = parseZkLoginSignature(signature.subarray(1));
  const identifier = ZkLoginPublicIdentifier.fromProof(address, inputs);
  const ephemeral = parseSerializedSignature(toBase64(Uint8Array.from(userSignature)));
  if (ephemeral.signatureScheme === "MultiSig" || ephemeral.signatureScheme === "ZkLogin") {
    return "the ephemeral key is of a kind that zkLogin does not take";
  }
  const key = publicKeyFromRawBytes(ephemeral.signatureScheme, ephemeral.publicKey);
  const until = Number(maxEpoch);
  if (epoch > until) return `the ephemeral key was good until epoch ${until}, and this is epoch ${epoch}`;
  if (until > epoch + MAX_EPOCHS_AHEAD) return `the ephemeral key is good for more than ${MAX_EPOCHS_AHEAD} epochs`;
  const attested = [MARK, issuerIn(identifier.toRawBytes()), inputs.addressSeed, key.toSuiPublicKey(), until];
  if (!isAttested(inputs.proofPoints, JSON.stringify(attested))) return "the proof is not the development prover's";
  const isSigned = await key.verifyWithIntent(message, ephemeral.serializedSignature, scope);
  return isSigned ? null : "the ephemeral key did not sign this";
}

/** The identifier is the issuer's length in one byte, the issuer, and the address seed. */
function issuerIn(identifier: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(identifier.subarray(1, 1 + (identifier[0] ?? 0)));
}

interface ProofPoints {
  readonly a: readonly string[];
  readonly b: readonly (readonly string[])[];
  readonly c: readonly string[];
}

function isAttested({ a, b, c }: ProofPoints, message: string): boolean {
  const [attestation] = c;
  if (a.length !== 1 || a[0] !== MARK || b.length !== 1 || c.length !== 1 || attestation === undefined) return false;
  const secret = Buffer.concat([PKCS8_PREFIX, hash("sha256", MARK, "buffer")]);
  const key = createPublicKey(createPrivateKey({ key: secret, format: "der", type: "pkcs8" }));
  return verify(null, Buffer.from(message), key, Buffer.from(attestation, "base64url"));
}
