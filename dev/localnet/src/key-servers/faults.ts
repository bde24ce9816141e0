import type { ChainAccess, ChainView } from "../chain-access.ts";

/** Replaces a key server's answer: first refusals by name, then answers that no key server gives. */
export type OtherAnswer =
  | "InvalidMVRName"
  | "UnsupportedPackageId"
  | "DeprecatedSDKVersion"
  | "Failure"
  /** The right keys, without `X-KeyServer-Version`, or with one that SealClient refuses. */
  | "no_version"
  | "old_version"
  | "not_json"
  | "no_keys"
  | "redirect"
  /** The beginning of an answer, and never its end. */
  | "hang";

/** How one key server misbehaves. Everything can be set and taken back at any time. */
export interface KeyServerFaults {
  /** Answers nothing: the connection is reset. */
  down: boolean;
  /** Waits before each answer, in milliseconds. */
  slow: number;
  /** Decides by the chain as it was when this was set to true. */
  stale: boolean;
  /** Answers with keys of another master key. */
  wrongKey: boolean;
  /** How far this server's clock is ahead, in milliseconds; negative when it is behind. */
  clockSkew: number;
  /** Refuses every user as real key servers refuse those who set up address aliases. */
  addressAlias: boolean;
  /** What its simulation of an approval may cost, in MIST; 500,000,000 as at real key servers. */
  budget: bigint;
  /** Null: its own answer. */
  otherAnswer: OtherAnswer | null;
}

/** What came in since the start or the last time the counters were set to zero, whatever was answered. */
export interface KeyServerRequests {
  service: number;
  fetchKey: number;
}

/** @internal One server's faults, with the view of the chain that follows from them. */
export class FaultyChainView implements KeyServerFaults {
  down = false;
  slow = 0;
  wrongKey = false;
  clockSkew = 0;
  addressAlias = false;
  budget = 500_000_000n;
  otherAnswer: OtherAnswer | null = null;
  readonly #chain: ChainAccess;
  #frozen: ChainView | null = null;

  constructor(chain: ChainAccess) {
    this.#chain = chain;
  }

  get stale(): boolean {
    return this.#frozen !== null;
  }

  set stale(stale: boolean) {
    if (stale) this.#frozen ??= this.#chain.snapshot();
    else this.#frozen = null;
  }

  /** The chain as this server's node sees it. */
  view(): ChainView {
    return this.#frozen ?? this.#chain;
  }

  /** This server's clock, milliseconds since 1970. */
  now(): number {
    return this.#chain.now() + this.clockSkew;
  }
}
