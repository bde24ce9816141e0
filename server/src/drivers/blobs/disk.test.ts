import { rm } from "node:fs/promises";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { describeBlobStore } from "../../../../test/suites/blob-store.ts";
import { openDiskBlobs } from "./disk.ts";

describeBlobStore("disk", async () => {
  const directory = makeDirectory();
  return {
    survives: true,
    open: () => openDiskBlobs({ directory }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
});
