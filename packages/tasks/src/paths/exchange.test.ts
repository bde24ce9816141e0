import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type * as FileSystem from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { openDestination, openSource } from "./local-files.ts";

/** Runs between the last check and the open: the moment an attacker waits for. */
let beforeOpen: () => void = () => undefined;

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof FileSystem>();
  const open: typeof real.open = async (path, flags, mode) => {
    beforeOpen();
    return await real.open(path, flags, mode);
  };
  return { ...real, open };
});

let base: string;
let root: string;

beforeEach(() => {
  base = makeDirectory();
  root = join(base, "root");
  mkdirSync(join(root, "box"), { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(root, "box", "file"), "ALLOWED");
  writeFileSync(join(base, "outside", "file"), "SECRET");
});

afterEach(() => {
  beforeOpen = () => undefined;
});

const allowed = () => ({ folders: [root], denied: { folders: [], files: [] } });

function exchangeFolder(): void {
  beforeOpen = () => undefined;
  renameSync(join(root, "box"), join(root, "away"));
  symlinkSync(join(base, "outside"), join(root, "box"));
}

function exchangeFile(): void {
  beforeOpen = () => undefined;
  rmSync(join(root, "box", "file"));
  symlinkSync(join(base, "outside", "file"), join(root, "box", "file"));
}

describe("between the check and the open", () => {
  it.each([
    ["its folder", exchangeFolder],
    ["the file itself", exchangeFile],
  ])("%s becomes a symlink: nothing outside is opened for reading", async (_what, exchange) => {
    beforeOpen = exchange;
    await expect(openSource(allowed(), "box/file")).rejects.toThrow(/outside the folders|ELOOP/);
  });

  it("the folder becomes a symlink: nothing outside is opened for writing", async () => {
    beforeOpen = exchangeFolder;
    await expect(openDestination(allowed(), "box/new", false)).rejects.toThrow(/outside the folders|ELOOP|ENOTDIR/);
  });
});
