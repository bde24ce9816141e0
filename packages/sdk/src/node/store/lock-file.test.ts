import { readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { acquireLock } from "./lock-file.ts";
import { processMark, tagOf } from "./process-mark.ts";

const FOREIGN = `1-${tagOf("start")}-${tagOf("another machine")}`;

async function takes(token: string, ageMs = 0): Promise<boolean> {
  const directory = makeDirectory();
  const path = join(directory, "lock");
  await writeFile(path, token);
  const at = new Date(Date.now() - ageMs);
  await utimes(path, at, at);
  await using lock = await acquireLock(path, 0);
  return lock !== null;
}

describe("a lock", () => {
  it("is held once, named by its process, and gone when it is given back", async () => {
    const directory = makeDirectory();
    const path = join(directory, "lock");
    {
      await using lock = await acquireLock(path, 0);
      expect(lock).not.toBeNull();
      expect(await acquireLock(path, 0)).toBeNull();
      expect((await readFile(path, "utf8")).split(" ")[0]).toBe(processMark());
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it("of a process that runs is left alone", async () => {
    expect(await takes(`${processMark(process.ppid)} a`)).toBe(false);
  });

  it("of an earlier process with the same id is taken over, our own id too", async () => {
    for (const pid of [process.pid, process.ppid]) {
      expect(await takes(`${String(pid)} a`)).toBe(true);
      expect(await takes(`${processMark(pid).replace(/-[0-9a-f]{12}-/, `-${tagOf("earlier")}-`)} a`)).toBe(true);
    }
  });

  it("of another machine or container counts while it is kept fresh", async () => {
    expect(await takes(`${FOREIGN} a`)).toBe(false);
    expect(await takes(`${FOREIGN} a`, 3_600_000)).toBe(true);
  });
});
