/** Work on blobs that goes on at the same time. */
const LANES = 16;

/** Waits for all that were begun, also when one fails. */
export async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | null = null;
  const lane = async (): Promise<void> => {
    for (let item = items[next]; item !== undefined && failure === null; item = items[next]) {
      next += 1;
      await work(item).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, items.length) }, lane));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
