/** The driver on a real store. What is wrong with a store is in s3/*.test.ts. */
import { rm } from "node:fs/promises";
import { beforeEach, describe } from "vitest";
import { settingsOf } from "../../../../test/kit/ceph/s3-settings.ts";
import { cephStore, skipWithoutCeph } from "../../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { describeBlobStore } from "../../../../test/suites/blob-store.ts";
import { openTestDatabase } from "../../test-storage.ts";
import { openS3Blobs } from "./s3.ts";

describe("on Ceph", () => {
  beforeEach(skipWithoutCeph);
  describeBlobStore("s3", async () => {
    const settings = settingsOf(await cephStore());
    const directory = makeDirectory();
    const database = await openTestDatabase(directory);
    return {
      survives: true,
      open: () => Promise.resolve(openS3Blobs({ settings, database })),
      async [Symbol.asyncDispose]() {
        await database[Symbol.asyncDispose]();
        await rm(directory, { recursive: true, force: true });
      },
    };
  });
});
