/**
 * Whether the holder of a chain address signed a text, as a Sui personal message (encryption design §4). The texts are
 * the contract's. This service makes them itself from its own data and never takes one from a request.
 */
import { MAX_CLOCK_SKEW } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { SignatureVerdict } from "../../ports/message-signatures.ts";
import { ServiceError } from "../../service-error.ts";
import { unreadError } from "../../unread-chain.ts";
import { ED25519, verifyEd25519 } from "./ed25519.ts";

/** Sui's flag byte of zkLogin: the first of a serialised signature. */
const ZKLOGIN = 0x05;

export interface ChainProof {
  readonly chainAddress: string;
  /** What must have been signed. */
  readonly text: string;
  /** Serialised as Sui does, in base64: the scheme's flag byte first. */
  readonly signature: string;
}

/**
 * Rejects with `signature_invalid` unless the address signed the text. Resolves with its public key in base64 if that
 * is one Ed25519 key, and with null for every other kind of signer. Rejects with `not_configured` for a zkLogin
 * signature on a server that reads no chain. Rejects with `chain_unavailable` when the chain's node does not answer:
 * then nothing is known of the signature.
 */
export async function requireProof(
  { signatures }: Pick<Deps, "signatures">,
  { chainAddress, text, signature }: ChainProof,
): Promise<string | null> {
  const bytes = Buffer.from(signature, "base64");
  // Node's decoder skips unknown characters: only a text that encodes back to itself is the one form of a signature.
  if (bytes.toString("base64") !== signature) {
    throw new ServiceError("signature_invalid", "The signature is not base64");
  }
  const claim = { chainAddress, message: Buffer.from(text, "utf8"), signature: bytes };
  if (bytes[0] === ED25519) {
    const { verdict, publicKey } = verifyEd25519(claim);
    requireValid(verdict, text);
    return Buffer.from(publicKey).toString("base64");
  }
  if (bytes[0] === ZKLOGIN && !signatures.capabilities.zklogin) {
    throw new ServiceError(
      "not_configured",
      "This server has no chain node, which zkLogin signatures need: its operator sets SERVICE_CHAIN_URL",
    );
  }
  requireValid(await signatures.verify(claim).catch(failAtNode), text);
  return null;
}

function requireValid(verdict: SignatureVerdict, text: string): void {
  if (verdict === "valid") return;
  throw new ServiceError("signature_invalid", verdict === "invalid" ? describeText(text) : REFUSALS[verdict]);
}

const REFUSALS = {
  other_address: "The key that signed is not the chain address's",
  expired:
    "The zkLogin sign-in has ended with its last epoch: sign in again with a new ephemeral key, the address stays the same",
  unsupported:
    "The signature's kind is not supported: use Ed25519, secp256k1, secp256r1, passkey, multisig of these, or zkLogin",
} as const;

/** Which service and which chain is what two sides most often disagree about, and no secret. */
function describeText(text: string): string {
  const [, origin, chain] = text.split("\n");
  return `The signature is not over the text for this address and purpose (${origin}, ${chain})`;
}

function failAtNode(cause: unknown): never {
  throw unreadError(cause, "The chain's node did not check the signature");
}

/** Throws `clock_skew` unless a signature was made within 5 minutes of now (decisions §4). `signedAt`: RFC 3339. */
export function requireFresh(signedAt: string, now: number): void {
  const ahead = Date.parse(signedAt) - now;
  if (Math.abs(ahead) <= MAX_CLOCK_SKEW) return;
  if (Number.isNaN(ahead)) throw new ServiceError("clock_skew", "The signature's time is not a valid time");
  const seconds = Math.ceil(Math.abs(ahead) / 1000);
  const where = ahead > 0 ? "ahead of" : "behind";
  throw new ServiceError(
    "clock_skew",
    `The signature's time is ${seconds} s ${where} the service's clock, and at most ${MAX_CLOCK_SKEW / 1000} s are taken`,
  );
}

/** The origin that signatures must name, or `not_configured`: what a Host header says binds a signature to nothing. */
export function requireServiceOrigin(serviceOrigin: string | null): string {
  if (serviceOrigin !== null) return serviceOrigin;
  throw new ServiceError(
    "not_configured",
    "This server has no public origin, which signatures of chain addresses name: its operator sets SERVICE_PUBLIC_URL",
  );
}
