import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeBlobStore } from "../../../../test/suites/blob-store.ts";
import { openDiskBlobs } from "./disk.ts";

describeBlobStore("disk", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-blobs-"));
  return {
    survives: true,
    open: () => openDiskBlobs({ directory }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
});
