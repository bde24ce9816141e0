import { randomUUID } from "node:crypto";
import { it } from "vitest";
import type { BlobStore } from "@coffer/server/ports/blob-store";

/** A place to store in, empty at first. */
export interface BlobMedium extends AsyncDisposable {
  /** A store over the place; what an earlier one stored is there when `survives`. */
  open(): Promise<BlobStore>;
  /** Whether content outlives the store object (it does not in memory). */
  readonly survives: boolean;
}

export type OpenMedium = () => Promise<BlobMedium>;

export function newKey(): string {
  return randomUUID();
}

/** Tests that each get a store over an empty medium. */
export function storeTests(openMedium: OpenMedium) {
  return (title: string, check: (store: BlobStore) => Promise<void>): void =>
    it(title, async () => {
      await using medium = await openMedium();
      await using store = await medium.open();
      await check(store);
    });
}
