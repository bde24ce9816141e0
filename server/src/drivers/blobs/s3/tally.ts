/** How long the store took and what it said, by operation. */
import type { BlobStoreTally } from "../../../ports/blob-store.ts";

export interface Tally {
  record(operation: string, outcome: "done" | "refused" | "failed", milliseconds: number): void;
  read(): readonly BlobStoreTally[];
}

export function openTally(): Tally {
  const counts = new Map<string, BlobStoreTally & { done: number; refused: number; failed: number; seconds: number }>();
  return {
    record(operation, outcome, milliseconds) {
      const found = counts.get(operation) ?? { operation, done: 0, refused: 0, failed: 0, seconds: 0 };
      found[outcome] += 1;
      found.seconds += milliseconds / 1000;
      counts.set(operation, found);
    },
    read: () => [...counts.values()],
  };
}
