/** The zkLogin ports: chain addresses from identity tokens, and the prover that makes their proofs. */
import type { ZkloginProof } from "@coffer/contract";

/** What binds an ephemeral key to a sign-in. */
export interface EphemeralKey {
  /** Flag byte and public key in base64. */
  readonly publicKey: string;
  readonly maxEpoch: number;
  /** Decimal. */
  readonly randomness: string;
}

/** Pure arithmetic, no network. */
export interface Zklogin {
  /** The nonce that the ID token must carry: 27 characters. Throws RangeError for a key that cannot be one. */
  nonceOf(key: EphemeralKey): string;
  /** The chain address of a subject; `salt` in decimal. Never the legacy derivation. */
  addressOf(claims: { issuer: string; audience: string; subject: string; salt: string }): string;
}

export interface ProofRequest {
  readonly idToken: string;
  readonly key: EphemeralKey;
  readonly salt: string;
}

/** Failure contract. Rejects with {@link ProverRefusedError} for inputs that do not belong together, and with {@link ProverUnavailableError} when it does not answer. */
export interface Prover {
  readonly capabilities: {
    /** `check` can tell a bad proof; otherwise only the chain can. */
    readonly checks: boolean;
  };
  prove(request: ProofRequest): Promise<ZkloginProof>;
  /** Whether a proof that a client made itself fits the request. Resolves true where `checks` is false. */
  check(proof: ZkloginProof, request: ProofRequest): Promise<boolean>;
}

export class ProverRefusedError extends Error {
  override readonly name = "ProverRefusedError";
}

export class ProverUnavailableError extends Error {
  override readonly name = "ProverUnavailableError";
}
