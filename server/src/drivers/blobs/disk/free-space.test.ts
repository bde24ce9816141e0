import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { diskFileSystem } from "./file-system.ts";
import { keepingFree } from "./free-space.ts";

const MIB = 1024 * 1024;

function openDisk(free: () => number) {
  const directory = makeDirectory();
  const files = keepingFree(diskFileSystem, { directory, bytes: 10 * MIB, measure: () => Promise.resolve(free()) });
  return { files, path: join(directory, "file") };
}

test("what would leave less than the reserve is refused as on a full disk, and notes still pass", async () => {
  let free = 12 * MIB;
  const disk = openDisk(() => free);
  const file = await disk.files.create(disk.path);
  await file.write(new Uint8Array(MIB), 0);
  await file.write(new Uint8Array(MIB), MIB);
  free = 10 * MIB;
  await expect(file.write(new Uint8Array(MIB), 2 * MIB)).rejects.toMatchObject({ code: "ENOSPC" });
  await file.write(new Uint8Array(16), 2 * MIB);
  free = 100 * MIB;
  await file.write(new Uint8Array(MIB), 2 * MIB);
  await file.close();
  const again = await disk.files.open(disk.path, "write");
  free = 0;
  await again.write(new Uint8Array(50 * MIB), 0);
  await expect(again.write(new Uint8Array(50 * MIB), 0)).rejects.toMatchObject({ code: "ENOSPC" });
  await again.close();
});

test("many writers at once do not pass the reserve together", async () => {
  let written = 0;
  const disk = openDisk(() => 20 * MIB - written);
  const file = await disk.files.create(disk.path);
  const outcomes = Array.from({ length: 40 }, async (_, index) => {
    await file.write(new Uint8Array(MIB), index * MIB);
    written += MIB;
  });
  const failed = (await Promise.allSettled(outcomes)).filter(({ status }) => status === "rejected");
  expect(failed).toHaveLength(30);
  await file.close();
});
