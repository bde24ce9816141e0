import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { acquireLock } from "./lock-file.ts";
import { markOf, processMark, tagOf } from "./process-mark.ts";

const FOREIGN = `1-${tagOf("start")}-${tagOf("another machine")}`;

/** A lock as a process of that mark has left it. */
async function leave(path: string, mark: string, ageMs = 0): Promise<void> {
  const holder = join(path, `${mark}.a`);
  await mkdir(path);
  await writeFile(holder, "");
  const at = new Date(Date.now() - ageMs);
  await utimes(holder, at, at);
}

async function takesOver(mark: string, ageMs = 0): Promise<boolean> {
  const path = join(makeDirectory(), "lock");
  await leave(path, mark, ageMs);
  await using lock = await acquireLock(path, 0);
  return lock !== null;
}

describe("a lock", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it("is held where the global timers are those of a page, as in jsdom [issue 53]", async () => {
    vi.stubGlobal("setInterval", () => 1);
    await using lock = await acquireLock(join(makeDirectory(), "lock"), 0);
    expect(lock).not.toBeNull();
  });

  it("is held once, named by its process, and gone when it is released", async () => {
    const directory = makeDirectory();
    const path = join(directory, "lock");
    {
      await using lock = await acquireLock(path, 0);
      expect(lock).not.toBeNull();
      expect(await acquireLock(path, 0)).toBeNull();
      expect((await readdir(path)).map((name) => name.split(".")[0])).toEqual([processMark()]);
      lock?.requireHeld();
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it("goes to one of those that wait for it in this process at a time, and to all of them in the end", async () => {
    const path = join(makeDirectory(), "lock");
    let inside = 0;
    const work = async (): Promise<number> => {
      await using lock = await acquireLock(path, 30_000);
      expect(lock).not.toBeNull();
      inside += 1;
      await new Promise((done) => setTimeout(done, 1));
      const seen = inside;
      inside -= 1;
      return seen;
    };
    expect(await Promise.all(Array.from({ length: 20 }, work))).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it("of a process that runs is left alone", async () => {
    expect(await takesOver(markOf(process.ppid))).toBe(false);
  });

  it("of an earlier process with the same id is taken over, our own id too", async () => {
    for (const pid of [process.pid, process.ppid]) {
      expect(await takesOver(String(pid))).toBe(true);
      expect(await takesOver(markOf(pid).replace(/-[0-9a-f]{12}-/, `-${tagOf("earlier")}-`))).toBe(true);
    }
  });

  it("of another machine or container counts while it is kept fresh", async () => {
    expect(await takesOver(FOREIGN)).toBe(false);
    expect(await takesOver(FOREIGN, 3_600_000)).toBe(true);
  });

  it("that another machine took over while this process was stopped is noticed before the next write", async () => {
    const path = join(makeDirectory(), "lock");
    await using lock = await acquireLock(path, 0);
    for (const name of await readdir(path)) await promisify(execFile)("rm", [join(path, name)]);
    expect(() => lock?.requireHeld()).toThrow(expect.objectContaining({ code: "locked" }));
  });

  it("that is released and taken over at once by many processes has one holder at any time", async () => {
    const directory = makeDirectory();
    const path = join(directory, "lock");
    const log = join(directory, "log");
    await leave(path, markOf(process.pid).replace(/-[0-9a-f]{12}-/, `-${tagOf("earlier")}-`));
    // Every second holder leaves its lock as a killed process would: stale, for the others to take over.
    const program = `
      import { appendFileSync, readdirSync, renameSync } from "node:fs";
      import { join } from "node:path";
      import { acquireLock } from ${JSON.stringify(new URL("lock-file.ts", import.meta.url).href)};
      const [path, log] = process.argv.slice(1);
      for (let at = 0; at < 60; at += 1) {
        const lock = await acquireLock(path, 60_000);
        appendFileSync(log, "in\\n");
        await new Promise((done) => setTimeout(done, at % 3));
        appendFileSync(log, "out\\n");
        if (at % 2 === 0) {
          const [name] = readdirSync(path);
          renameSync(join(path, name), join(path, name.replace(/^[0-9]+-[0-9a-f]{12}/, "1-000000000001")));
        }
        await lock[Symbol.asyncDispose]();
      }`;
    const options = ["--conditions=coffer-source", "--input-type=module", "--eval", program, "--", path, log];
    await Promise.all(Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, options)));
    const lines = (await readFile(log, "utf8")).trimEnd().split("\n");
    expect(lines).toHaveLength(480);
    expect(lines.filter((line, at) => line !== (at % 2 === 0 ? "in" : "out"))).toEqual([]);
  }, 60_000);
});
