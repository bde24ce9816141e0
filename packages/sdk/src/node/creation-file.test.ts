import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileCreations } from "./creation-file.ts";
import { openTestDirectory } from "./test-directory.ts";

describe("unfinished creations in a file", () => {
  it("outlive the process, each by itself, and are gone when they are finished", async () => {
    await using directory = await openTestDirectory();
    const path = join(directory.path, "deep", "creations.json");
    const creations = fileCreations(path);
    expect(await creations.load("a")).toBeNull();
    await creations.save("a", "digest of a");
    await creations.save("b", "digest of b");
    await creations.save("a", "second digest of a");
    const again = fileCreations(path);
    expect([await again.load("a"), await again.load("b")]).toEqual(["second digest of a", "digest of b"]);
    await again.save("a", null);
    await again.save("never begun", null);
    expect([await creations.load("a"), await creations.load("b")]).toEqual([null, "digest of b"]);
    expect(await creations.load("constructor")).toBeNull();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("that were damaged are an error, and stay as they are", async () => {
    await using directory = await openTestDirectory();
    const path = join(directory.path, "creations.json");
    for (const text of ["", "{", '{"version":2,"creations":{}}', '{"version":1,"creations":{"a":1}}']) {
      await writeFile(path, text);
      await expect(fileCreations(path).load("a")).rejects.toMatchObject({ code: "configuration" });
      await expect(fileCreations(path).save("a", "x")).rejects.toMatchObject({ code: "configuration" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});
