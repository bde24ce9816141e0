/**
 * How old a read of the chain may be, in milliseconds, by what it decides. Each read costs a round trip to the chain's
 * node. Each millisecond is one in which a removed member is still a member to this service. Without an entry here the
 * chain is read again (0): for acts that record or end a member, and that make or move a vault.
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
