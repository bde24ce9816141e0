import { readFileSync, readdirSync, readlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { collect, inChunks, patternBytes } from "../../../../../test/kit/bytes.ts";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { openDiskBlobs } from "../disk.ts";
import { BufferPool, LARGE } from "./buffers.ts";
import { type Access, diskFileSystem, type FileSystem } from "./file-system.ts";

const O_DIRECT = 0o40000;

/** How many descriptors of this process move bytes of the file past the cache. Linux alone says. */
function directOnes(path: string): number {
  const isDirect = (descriptor: string): boolean => {
    try {
      if (readlinkSync(`/proc/self/fd/${descriptor}`) !== path) return false;
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
      return (Number.parseInt(flags ?? "0", 8) & O_DIRECT) !== 0;
    } catch {
      // Closed meanwhile, as the one that lists them is.
      return false;
    }
  };
  return readdirSync("/proc/self/fd").filter(isDirect).length;
}

const linux = process.platform === "linux";
const content = patternBytes("direct", 3 * LARGE + 100);

describe("a file that is opened directly", () => {
  it("takes blocks of the pool past the cache, the others through it, and all are there", async () => {
    const path = join(makeDirectory(), "written");
    await writeFile(path, "");
    const file = await diskFileSystem.open(path, "direct write");
    const block = new BufferPool(1).take();
    for (let at = 0; at < 3; at += 1) {
      block.set(content.subarray(at * LARGE, (at + 1) * LARGE));
      await file.write(block, at * LARGE);
    }
    await file.write(content.subarray(3 * LARGE), 3 * LARGE);
    block.set(content.subarray(10, 10 + LARGE));
    await file.write(block, 10);
    if (linux) expect(directOnes(path)).toBe(1);
    await file.flush();
    await file.close();
    if (linux) expect(directOnes(path)).toBe(0);
    expect(content.equals(await readFile(path))).toBe(true);
  });

  it("reads the same, up to the end", async () => {
    const path = join(makeDirectory(), "read");
    await writeFile(path, content);
    const file = await diskFileSystem.open(path, "direct read");
    const block = new BufferPool(1).take();
    for (let at = 0; at < 3; at += 1) {
      expect(await file.read(block, at * LARGE)).toBe(LARGE);
      expect(block.equals(content.subarray(at * LARGE, (at + 1) * LARGE))).toBe(true);
    }
    if (linux) expect(directOnes(path)).toBe(1);
    expect(await file.read(block, 3 * LARGE)).toBe(100);
    expect(block.subarray(0, 100).equals(content.subarray(3 * LARGE))).toBe(true);
    await file.close();
  });

  it("goes through the cache from the first block on that cannot go past it", async () => {
    const path = join(makeDirectory(), "refused");
    await writeFile(path, "");
    const file = await diskFileSystem.open(path, "direct write");
    const odd = Buffer.allocUnsafeSlow(LARGE + 1).subarray(1);
    odd.set(content.subarray(0, LARGE));
    await file.write(odd, 0);
    if (linux) expect(directOnes(path)).toBe(0);
    await file.close();
    expect(odd.equals(await readFile(path))).toBe(true);
  });
});

describe("a large blob", () => {
  const opened = (): { files: FileSystem; accesses: Access[] } => {
    const accesses: Access[] = [];
    const open: FileSystem["open"] = (path, access) => {
      if (!path.endsWith(".length")) accesses.push(access);
      return diskFileSystem.open(path, access);
    };
    return { files: { ...diskFileSystem, open }, accesses };
  };

  it("goes past the cache when it is sent in parts, to its first reader, and not to the next", async () => {
    const { files, accesses } = opened();
    await using store = await openDiskBlobs({ directory: makeDirectory(), fileSystem: files });
    const bytes = patternBytes("large", 16 * LARGE + 10);
    await store.begin("a-large-blob");
    await store.append("a-large-blob", 0, inChunks(bytes, 700_000));
    await store.complete("a-large-blob");
    expect(accesses).toEqual(["direct write"]);
    for (const access of ["direct read", "read", "read"]) {
      const stored = await store.open("a-large-blob");
      expect(stored !== null && bytes.equals(await collect(stored))).toBe(true);
      expect(accesses.at(-1)).toBe(access);
    }
  });

  it("is read through the cache where a reader wants little of it", async () => {
    const { files, accesses } = opened();
    await using store = await openDiskBlobs({ directory: makeDirectory(), fileSystem: files });
    await store.put("a-large-blob", inChunks(patternBytes("large", 17 * LARGE), LARGE));
    const stored = await store.open("a-large-blob", { offset: 0, length: 2 * LARGE });
    if (stored !== null) await collect(stored);
    expect(accesses).toEqual(["read"]);
  });
});
