/** A fetch that counts the keys that key servers give, and what they are asked for in vain. */
export interface CountedKeys {
  readonly fetch: typeof fetch;
  /** Keys that were given so far, by key server. */
  readonly given: () => readonly number[];
  /** Requests so far that were answered with another status than 200. */
  readonly refused: () => number;
}

export function countKeys(): CountedKeys {
  const given = [0, 0, 0];
  let refused = 0;
  return {
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      const url = input instanceof Request ? input.url : String(input);
      const server = /\/key-servers\/(\d+)\/v1\/fetch_key/.exec(url)?.[1];
      if (server === undefined) return answer;
      if (!answer.ok) refused += 1;
      const { decryption_keys: keys } = answer.ok
        ? ((await answer.clone().json()) as { decryption_keys: unknown[] })
        : { decryption_keys: [] };
      given[Number(server)] = (given[Number(server)] ?? 0) + keys.length;
      return answer;
    },
    given: () => [...given],
    refused: () => refused,
  };
}
