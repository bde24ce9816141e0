/** What undoing one actor's part of a history comes to. */

/** A state that something had. */
export interface PastState<State> {
  /** Numbers of states that follow each other differ by one; the first state has 1. */
  readonly number: number;
  /** The actor made it, within the time that is rewound. */
  readonly isMine: boolean;
  /** A code that says why it does not count as verified. null: it does, or the vault is public. */
  readonly unreadable: string | null;
  readonly state: State;
}

export type Verdict<State> =
  | { readonly is: "nothing" }
  | { readonly is: "undo"; readonly to: State }
  /** Somebody else made the present state afterwards. */
  | { readonly is: "changed" }
  /** The state to go back to is no longer stored. */
  | { readonly is: "lost" }
  /** The present state, or the one to go back to, is not verified; `code` says why. */
  | { readonly is: "unverified"; readonly code: string };

/**
 * Goes back over the newest states that the actor made, to the one before them. Where somebody else's state is the newest,
 * nothing is undone: it is left alone, unless it is what undoing would come to. A rewind that ran before made it then.
 */
export async function judge<State>(
  newestFirst: readonly PastState<State>[],
  same: (one: State, newest: State) => boolean | Promise<boolean>,
): Promise<Verdict<State>> {
  const first = newestFirst.findIndex(({ isMine }) => isMine);
  const [newest] = newestFirst;
  if (newest !== undefined && newest.unreadable !== null) return { is: "unverified", code: newest.unreadable };
  if (first === -1 || newest === undefined) return { is: "nothing" };
  const length = newestFirst.slice(first).findIndex(({ isMine }) => !isMine);
  const before = length === -1 ? undefined : newestFirst[first + length];
  if (before !== undefined && before.unreadable !== null) return { is: "unverified", code: before.unreadable };
  if (before !== undefined && (await same(before.state, newest.state))) return { is: "nothing" };
  if (first > 0) return { is: "changed" };
  const oldest = newestFirst[length - 1];
  if (before === undefined || oldest?.number !== before.number + 1) return { is: "lost" };
  return { is: "undo", to: before.state };
}
