/**
 * Why a key is refused, in the sentences of `invalid_credential`: only who holds the whole key learns it, and clients know the reason by its
 * sentence. Of any other key the service says no more than that it is not valid.
 */
export const KEY_REFUSALS = {
  revoked: "The API key was revoked",
  expired: "The API key has expired",
  mistyped: "The API key is mistyped or cut off: its check digits do not fit",
} as const;

/** What to do about each. An agent that was revoked cannot sign in again by itself. */
const KEY_REFUSAL_STEPS = {
  revoked: "Ask the account's owner for a new invite, or for a new key.",
  expired: "Ask the account's owner for a new invite, or for a new key.",
  mistyped: "Copy the whole key again.",
} as const satisfies Record<keyof typeof KEY_REFUSALS, string>;

export type KeyRefusal = keyof typeof KEY_REFUSALS;

/** null: the sentence is of none. */
export function keyRefusalOf(sentence: string): KeyRefusal | null {
  return (Object.keys(KEY_REFUSALS) as KeyRefusal[]).find((each) => KEY_REFUSALS[each] === sentence) ?? null;
}

/** null: the sentence is of none. */
export function stepOfRefusedKey(sentence: string): string | null {
  const refusal = keyRefusalOf(sentence);
  return refusal === null ? null : KEY_REFUSAL_STEPS[refusal];
}
