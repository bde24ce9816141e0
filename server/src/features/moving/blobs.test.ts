import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { collect, patternBytes, sha256Of } from "../../../../test/kit/bytes.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { parseConfig } from "../../config.ts";
import { layoutOf } from "../../drivers/blobs/disk/layout.ts";
import { inOrder } from "../../jobs/jobs.test-kit.ts";
import { openForMove } from "../../storage.ts";
import { openMemoryBlobs } from "../../storage.test-kit.ts";
import { copyContents } from "./blobs.ts";

it("a copy that was killed within a content goes on when it is run again [issue 51]", async () => {
  const [key, bytes, directory] = ["content-killed", patternBytes("killed", 100_000), makeDirectory()];
  await using source = openMemoryBlobs();
  await source.put(key, inOrder([bytes]));
  await using target = await openForMove(parseConfig({ SERVICE_ENV: "development", SERVICE_DATA_DIR: directory }));
  // As SIGKILL leaves it: the bytes are under no name of the store yet.
  await writeFile(layoutOf(`${directory}/blobs`).temporary(key), bytes.subarray(0, 1000));
  const content = { blob_key: key, size: bytes.length, sha256: sha256Of(bytes) };
  const copied = await copyContents(inOrder([content]), source, target.blobs, { told: () => undefined });
  expect(copied).toEqual({ copied: 1, found: 0, bytes: bytes.length });
  expect((await collect((await target.blobs.open(key)) ?? inOrder([]))).equals(bytes)).toBe(true);
});
