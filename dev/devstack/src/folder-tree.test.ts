import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newNameProblem } from "@coffer/contract";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { equalFiles } from "./equal-files.ts";
import { readTree, storableName } from "./folder-tree.ts";

let top: string;

beforeEach(async () => {
  top = makeDirectory();
});

describe("readTree", () => {
  it("names parents before children, and what it leaves out with the reason", async () => {
    await mkdir(join(top, "a", "b"), { recursive: true });
    await mkdir(join(top, "data"));
    await writeFile(join(top, "a", "b", "file"), "12345");
    await writeFile(join(top, "data", "hidden"), "x");
    await symlink("a", join(top, "link"));
    const tree = await readTree(top, join(top, "data"));
    expect(tree.folders).toEqual([["a"], ["a", "b"]]);
    expect(tree.files).toEqual([{ parts: ["a", "b", "file"], path: join(top, "a", "b", "file"), size: 5 }]);
    expect(tree.skipped).toEqual([
      { path: "data", reason: "the stack's own data" },
      { path: "link", reason: "symbolic links are not followed" },
    ]);
  });

  it("goes no deeper than the service's folders", async () => {
    const parts = Array.from({ length: 33 }, () => "d");
    await mkdir(join(top, ...parts), { recursive: true });
    const tree = await readTree(top, "");
    expect(tree.folders).toHaveLength(32);
    expect(tree.skipped).toEqual([{ path: parts.join("/"), reason: "deeper than 32 folders" }]);
  });
});

describe("storableName", () => {
  it("is always a name the service takes", () => {
    const names = fc
      .string({ unit: "binary", minLength: 1, maxLength: 255 })
      .filter((name) => !name.includes("/") && Buffer.byteLength(name) <= 255);
    fc.assert(
      fc.property(names, (name) => {
        expect(newNameProblem(storableName(name))).toBe(null);
      }),
      { numRuns: 2000, examples: [["\u0080\u0000"], ["\u009f.txt"]] },
    );
  });

  it("keeps what is a name already", () => {
    expect(storableName("Ünï – ☃.txt")).toBe("Ünï – ☃.txt");
  });
});

describe("equalFiles", () => {
  it.each([
    ["", "", true],
    ["a", "a", true],
    ["a", "b", false],
    ["a", "ab", false],
    ["", "a", false],
  ])("%j and %j: %s", async (a, b, equal) => {
    await writeFile(join(top, "a"), a);
    await writeFile(join(top, "b"), b);
    expect(await equalFiles(join(top, "a"), join(top, "b"))).toBe(equal);
  });

  it.each([0, 1 << 20, (1 << 21) - 1, (1 << 21) + 7])("sees one changed byte at %i of three MiB", async (position) => {
    const content = Buffer.alloc(3 << 20, 1);
    await writeFile(join(top, "a"), content);
    expect(await equalFiles(join(top, "a"), join(top, "a"))).toBe(true);
    content[position] = 2;
    await writeFile(join(top, "b"), content);
    expect(await equalFiles(join(top, "a"), join(top, "b"))).toBe(false);
  });
});
