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

/** The parts of an address. */
export interface ZkloginClaims {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  /** Decimal, below 2^128. */
  readonly salt: string;
}

/**
 * Pure arithmetic, no network; the members wait only for code to be loaded. Failure contract. Each rejects with
 * RangeError for values that zkLogin cannot take (a key of another kind, claims that are too long), without naming them.
 */
export interface Zklogin {
  /** The nonce that the ID token must carry: 27 characters. */
  nonceOf(key: EphemeralKey): Promise<string>;
  /** The chain address of a subject. Never the legacy derivation. */
  addressOf(claims: ZkloginClaims): Promise<string>;
  /** The subject's value in a proof, in decimal. */
  addressSeedOf(claims: ZkloginClaims): Promise<string>;
}

export interface ProofRequest {
  /** Verified before it comes here. */
  readonly idToken: string;
  readonly key: EphemeralKey;
  readonly salt: string;
}

/** Failure contract. Rejects with {@link ProverRefusedError} for inputs that do not belong together, and with {@link ProverUnavailableError} when it does not answer. */
export interface Prover {
  readonly capabilities: {
    /** `check` can recognise a bad proof; otherwise only the chain can. */
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
