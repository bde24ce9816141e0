/**
 * A loader whose module is looked up once: the runtime's own look-up costs about as much as a tenth of a small call.
 * A load that fails is tried again by the next call.
 */
export function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | undefined;
  return () =>
    (kept ??= load().catch((error: unknown) => {
      kept = undefined;
      throw error;
    }));
}
