/**
 * The development prover. Its "proof" is a signature by a key that anyone can read here: outside localnet it proves
 * nothing, and no real chain accepts it. It takes the place of a real prover and checks what a real one checks. It
 * lets the local chain refuse values that do not belong together (specification §5.5).
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";
import type { ZkloginProof } from "@coffer/contract";
import { type ProofRequest, type Prover, ProverRefusedError, type Zklogin } from "../../ports/zklogin.ts";
import { partsOf, type TokenParts } from "./token-parts.ts";

/** First proof point, so that nobody takes it for Groth16. */
const MARK = "coffer development prover 1";
const WARNING = "proves nothing outside localnet";
/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410 §7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

export function openDevelopmentProver(zklogin: Zklogin): Prover {
  const claim = async (request: ProofRequest) => {
    const parts = partsOf(request.idToken);
    const seed = await zklogin.addressSeedOf({ ...parts.claims, salt: request.salt });
    return { parts, seed, message: messageOf(parts, seed, request) };
  };
  return {
    capabilities: { checks: true },

    async prove(request) {
      const { parts, seed, message } = await claim(request);
      if (parts.nonce !== (await zklogin.nonceOf(request.key))) {
        throw new ProverRefusedError("the token's nonce is not that of the ephemeral key");
      }
      const attestation = sign(null, message, privateKey()).toString("base64url");
      return {
        proofPoints: { a: [MARK], b: [[WARNING]], c: [attestation] },
        issBase64Details: parts.issBase64Details,
        headerBase64: parts.headerBase64,
        addressSeed: seed,
      };
    },

    async check(proof, request) {
      const { parts, seed, message } = await claim(request);
      if (parts.nonce !== (await zklogin.nonceOf(request.key))) return false;
      if (proof.addressSeed !== seed || proof.headerBase64 !== parts.headerBase64) return false;
      return isSameIssuer(proof, parts) && isAttested(proof, message);
    },
  };
}

/** The attested facts: the address, the key that may sign for it, and until when. */
function messageOf(parts: TokenParts, seed: string, { key }: ProofRequest): Buffer {
  return Buffer.from(JSON.stringify([MARK, parts.claims.issuer, seed, key.publicKey, key.maxEpoch]));
}

function isSameIssuer({ issBase64Details: { value, indexMod4 } }: ZkloginProof, { issBase64Details }: TokenParts) {
  return value === issBase64Details.value && indexMod4 === issBase64Details.indexMod4;
}

function isAttested({ proofPoints: { a, b, c } }: ZkloginProof, message: Buffer): boolean {
  const [attestation] = c;
  const isForm = a.length === 1 && a[0] === MARK && b.length === 1 && c.length === 1;
  if (!isForm || attestation === undefined) return false;
  return verify(null, message, createPublicKey(privateKey()), Buffer.from(attestation, "base64url"));
}

/** Made of its name: there is nothing secret about it. */
function privateKey(): KeyObject {
  const secret = hash("sha256", MARK, "buffer");
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, secret]), format: "der", type: "pkcs8" });
}
