import { describeBlobStore } from "../../../../test/suites/blob-store.ts";
import { openMemoryBlobs } from "./memory.ts";

describeBlobStore("memory", () =>
  Promise.resolve({
    survives: false,
    open: () => Promise.resolve(openMemoryBlobs()),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
);
