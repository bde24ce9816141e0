import type { BlobKey, BlobStore } from "../../ports/blob-store.ts";

/** One after the other, for stores where many at once are no faster. */
export async function removeEach(
  store: Pick<BlobStore, "discard" | "delete">,
  keys: readonly BlobKey[],
): Promise<ReadonlyMap<BlobKey, unknown>> {
  const failed = new Map<BlobKey, unknown>();
  for (const key of keys) {
    try {
      await store.discard(key);
      await store.delete(key);
    } catch (error) {
      failed.set(key, error);
    }
  }
  return failed;
}
