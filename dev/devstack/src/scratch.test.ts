import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openScratch } from "./scratch.ts";

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "scratch-test-"));
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

/** Runs the lines in a process of their own that has an open scratch directory with a file in it. */
function runWithScratch(lines: string): { status: number | null; left: string[] } {
  const module = new URL("scratch.ts", import.meta.url).href;
  const program = `
    import { mkdirSync, writeFileSync } from "node:fs";
    import { openScratch } from ${JSON.stringify(module)};
    const { path } = openScratch();
    mkdirSync(path + "/sub");
    writeFileSync(path + "/sub/copy", "in the clear");
    ${lines}`;
  const { status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    env: { PATH: process.env["PATH"], TMPDIR: base },
  });
  return { status, left: readdirSync(base) };
}

describe("a scratch directory", () => {
  it("goes when the process exits at once", () => {
    expect(runWithScratch("process.exit(3)")).toEqual({ status: 3, left: [] });
  });

  it("goes when an error that nobody takes ends the process", () => {
    expect(runWithScratch("throw new Error('not taken')")).toEqual({ status: 1, left: [] });
  });

  it("is its user's alone, goes with its scope, and leaves nothing to do at the exit", () => {
    const before = process.listenerCount("exit");
    let path: string;
    {
      using scratch = openScratch();
      path = scratch.path;
      expect(statSync(path).mode & 0o777).toBe(0o700);
      writeFileSync(join(path, "copy"), "in the clear");
    }
    expect(existsSync(path)).toBe(false);
    expect(process.listenerCount("exit")).toBe(before);
  });
});
