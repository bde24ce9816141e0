/** Results that are remembered of one function. */
const MOST = 256;

/** Arithmetic on the curve takes milliseconds, and all key servers of a localnet are asked the same: the latest results are remembered. */
export function memoize<A extends readonly unknown[], R>(
  compute: (...args: A) => R,
  keyOf: (...args: A) => string,
): (...args: A) => R {
  const results = new Map<string, R>();
  return (...args) => {
    const key = keyOf(...args);
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(...args);
    results.set(key, result);
    for (const oldest of results.keys()) {
      if (results.size <= MOST) break;
      results.delete(oldest);
    }
    return result;
  };
}
