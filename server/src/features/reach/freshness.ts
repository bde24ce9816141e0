/**
 * How old a read of the chain may be, in milliseconds, by what it decides. Each read costs a round trip to the chain's node, and each
 * millisecond is one in which somebody who was removed is still a member to this service. Where nothing is named here the chain is read
 * anew (0): what records or ends a member, and what makes or moves a vault.
 */
export const FRESHNESS = {
  /** A request that uses content (decisions §5). */
  authorising: 10_000,
  /** A running stream: with the pause between two looks a removed member is cut off within ten seconds. */
  watching: 5_000,
  /** The commit of a signed change: a generation that moved must stop it, and a thousand small files must not be a thousand reads. */
  committing: 1_000,
  /** The member list. */
  listing: 1_000,
  /** A refusal: who is refused may have been added since. A stranger costs four reads a second at most. */
  refusing: 250,
} as const;
