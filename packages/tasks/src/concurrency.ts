/** Does `work` for each item, at most `count` at once. The first error ends all lanes and is thrown when they are done. */
export async function inLanes<Item>(
  items: readonly Item[],
  count: number,
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true && failures.length === 0; next = rest.next())
      try {
        const [at, item] = next.value;
        await work(item, at);
      } catch (error) {
        failures.push(error);
      }
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, lane));
  if (failures.length > 0) throw failures[0];
}
