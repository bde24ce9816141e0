/**
 * The chain, as far as the service reads it: vault objects and their allowlists. It signs and sends nothing (decisions §0: a server
 * compromise must not be a decrypt compromise).
 */

export interface ChainMember {
  /** `0x` and 64 lower-case hex digits. */
  readonly address: string;
  /** Ed25519, 32 bytes; empty: it reads and does not write yet. */
  readonly signingKey: Uint8Array;
  /** The generation it joined in, or changed its key in. */
  readonly since: number;
  /** When the membership ends by itself, in milliseconds since 1970; null: never. */
  readonly endsAt: number | null;
}

/** An entry of the allowlist. One that has ended stays there, marked, until it is swept. */
export interface ChainListedMember extends ChainMember {
  /** The last generation in which it held; null while it is not marked as ended. */
  readonly until: number | null;
}

export interface ChainFormerMember extends ChainMember {
  /** The last generation of this entry. */
  readonly until: number;
}

/** A vault object (encryption design §3). */
export interface ChainVault {
  readonly objectId: string;
  readonly owner: ChainMember;
  readonly members: readonly ChainListedMember[];
  readonly former: readonly ChainFormerMember[];
  readonly generation: number;
  readonly floor: number;
  readonly plainNames: boolean;
  /** The chain's time when it was read: at most 30 s from this process's clock, either way. */
  readonly time: number;
  /** When it was read, by this process's clock in milliseconds. */
  readonly readAt: number;
}

/** The chain or its node does not answer, or is too far behind to be believed. */
export class ChainUnavailableError extends Error {
  override readonly name = "ChainUnavailableError";
}

/** The node answers for another chain than the service's. The message names both, and clients may see it. */
export class OtherChainError extends ChainUnavailableError {}

/** The node's time and this process's clock are too far apart. The message says by how much, and clients may see it. */
export class ClockSkewError extends ChainUnavailableError {}

export interface Chain extends AsyncDisposable {
  /**
   * The vault object; null when there is no such object, or it is not a vault of the configured package. May answer
   * from memory what it read at most `maxAge` milliseconds ago (0: reads now); callers that ask at once share one
   * read. Never a generation below one that it has answered before.
   * @throws ChainUnavailableError when it cannot be read within a few seconds.
   */
  readVault(objectId: string, options: { readonly maxAge: number }): Promise<ChainVault | null>;
}
