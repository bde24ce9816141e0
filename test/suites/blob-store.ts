/**
 * What every driver of the blob port must do. It knows nothing of files: a driver over an object store is held to it
 * as it stands. An append of odd size may be slow there, and is never wrong.
 */
import { randomUUID } from "node:crypto";
import type { BlobStore, StoredBlob } from "@coffer/server/ports/blob-store";
import { describe } from "vitest";
import { describeConcurrency } from "./blob-store-concurrency.ts";
import { describePartials } from "./blob-store-partials.ts";
import { describeReading } from "./blob-store-reading.ts";
import { describeWriting } from "./blob-store-writing.ts";

/** A place to store in, empty at first. */
export interface BlobMedium extends AsyncDisposable {
  /** A store over the place; what an earlier one stored is there when `survives`. */
  open(): Promise<BlobStore>;
  /** Whether content outlives the store object (it does not in memory). */
  readonly survives: boolean;
}

export type OpenMedium = () => Promise<BlobMedium>;

export function describeBlobStore(name: string, openMedium: OpenMedium): void {
  describe(`blob store: ${name}`, () => {
    describeWriting(openMedium);
    describeReading(openMedium);
    describePartials(openMedium);
    describeConcurrency(openMedium);
  });
}

export function newKey(): string {
  return randomUUID();
}

/** Runs `check` on a store over an empty medium. */
export function onStore(openMedium: OpenMedium, check: (store: BlobStore) => Promise<void>): () => Promise<void> {
  return async () => {
    await using medium = await openMedium();
    await using store = await medium.open();
    await check(store);
  };
}

export async function listed(store: BlobStore): Promise<StoredBlob[]> {
  const found: StoredBlob[] = [];
  for await (const blob of store.list()) found.push(blob);
  return found;
}
