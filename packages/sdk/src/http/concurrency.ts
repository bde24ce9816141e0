/** Does `work` for each item, at most `count` at once. The first error ends all lanes and is thrown when they are done. */
export async function inLanes<Item>(
  items: Iterable<Item>,
  count: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | null = null;
  const lane = async (): Promise<void> => {
    for (let next = remaining.next(); next.done !== true && failure === null; next = remaining.next())
      try {
        await work(next.value);
      } catch (error) {
        failure ??= { error };
      }
  };
  await Promise.all(Array.from({ length: count }, lane));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
