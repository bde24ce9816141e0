/**
 * What every driver of the blob port must do. It knows nothing of files: a driver over an object store is held to it
 * as it stands. An append of odd size may be slow there, and is never wrong.
 */
import { describe } from "vitest";
import type { OpenMedium } from "./blob-medium.ts";
import { describeConcurrency } from "./blob-store-concurrency.ts";
import { describeMark } from "./blob-store-mark.ts";
import { describePartials } from "./blob-store-partials.ts";
import { describeReading } from "./blob-store-reading.ts";
import { describeWriting } from "./blob-store-writing.ts";

export type { BlobMedium, OpenMedium } from "./blob-medium.ts";

export function describeBlobStore(name: string, openMedium: OpenMedium): void {
  describe(`blob store: ${name}`, () => {
    describeWriting(openMedium);
    describeReading(openMedium);
    describePartials(openMedium);
    describeConcurrency(openMedium);
    describeMark(openMedium);
  });
}
