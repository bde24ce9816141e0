/** Calls on their way at once, as an agent makes them that has many small files to move. */
export const LANES = 4;

/** Does `work` for 0 to `count` - 1, {@link LANES} at once; answers how often a second. */
export async function rateOf(count: number, work: (at: number) => Promise<void>): Promise<number> {
  const began = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return (count / (performance.now() - began)) * 1000;
}
