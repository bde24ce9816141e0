/** Does `work` for each item, at most `limit` at once. After the first error no other item is begun, and the error is thrown when those that were are done. */
export async function runConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, at: number) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const remaining = items.entries();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true && failures.length === 0; next = remaining.next())
      try {
        const [at, item] = next.value;
        await work(item, at);
      } catch (error) {
        failures.push(error);
      }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
