import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { enterProcess } from "./processes.ts";
import { ofEachTest } from "../each.test-kit.ts";

const directory = ofEachTest(async () => ({ path: makeDirectory() }));

describe("a process that enters a directory", () => {
  it("is alone until another one is there", () => {
    using first = enterProcess(directory.path);
    using second = enterProcess(directory.path);
    expect([first.alone, second.alone]).toEqual([true, false]);
  });

  it("is alone after the others have left", async () => {
    enterProcess(directory.path)[Symbol.dispose]();
    using entry = enterProcess(directory.path);
    expect(entry.alone).toBe(true);
    expect(await readdir(directory.path)).toHaveLength(1);
  });

  it("sees one in another process, until that is killed", async () => {
    const source = `import { enterProcess } from ${JSON.stringify(new URL("./processes.ts", import.meta.url).href)};
      enterProcess(${JSON.stringify(directory.path)}); console.log("in"); setInterval(() => undefined, 1000);`;
    const other = spawn(process.execPath, ["--input-type=module-typescript", "--eval", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(other.stdout, "data");
    {
      using entry = enterProcess(directory.path);
      expect(entry.alone).toBe(false);
    }
    other.kill("SIGKILL");
    await once(other, "exit");
    using entry = enterProcess(directory.path);
    expect(entry.alone).toBe(true);
    expect(await readdir(directory.path)).toHaveLength(1);
  });

  it("is not deceived by a process id that is used again", async () => {
    const { hostname } = await import("node:os");
    const record = { pid: process.pid, startedAt: "1", host: hostname() };
    await writeFile(join(directory.path, "left-behind"), JSON.stringify(record));
    using entry = enterProcess(directory.path);
    expect(entry.alone).toBe(true);
  });

  it("believes a file of another machine for as long as it is fresh", async () => {
    const path = join(directory.path, "elsewhere");
    await writeFile(path, JSON.stringify({ pid: 1, startedAt: "1", host: "another-machine" }));
    {
      using entry = enterProcess(directory.path);
      expect(entry.alone).toBe(false);
    }
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(path, longAgo, longAgo);
    using entry = enterProcess(directory.path);
    expect(entry.alone).toBe(true);
  });
});
