import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { fileCreations } from "./creation-file.ts";

describe("unfinished creations in a file", () => {
  it("outlive the process, each by itself, and are gone when they are finished", async () => {
    const directory = makeDirectory();
    const path = join(directory, "deep", "creations.json");
    const creations = fileCreations(path);
    expect(await creations.load("a")).toBeNull();
    expect(await creations.replace("a", null, "first of a")).toBe(true);
    expect(await creations.replace("b", null, "b")).toBe(true);
    expect(await creations.replace("a", "first of a", "second of a")).toBe(true);
    const again = fileCreations(path);
    expect([await again.load("a"), await again.load("b")]).toEqual(["second of a", "b"]);
    expect(await again.replace("a", "second of a", null)).toBe(true);
    expect(await again.replace("never begun", null, null)).toBe(true);
    expect([await creations.load("a"), await creations.load("b")]).toEqual([null, "b"]);
    expect(await creations.load("constructor")).toBeNull();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("are exchanged only for what was read: of two processes at once one keeps its own", async () => {
    const directory = makeDirectory();
    const path = join(directory, "creations.json");
    const kept = await Promise.all(["one", "two", "three"].map((own) => fileCreations(path).replace("a", null, own)));
    expect(kept.filter((isKept) => isKept)).toHaveLength(1);
    expect(await fileCreations(path).load("a")).toBe(["one", "two", "three"][kept.indexOf(true)]);
    expect(await fileCreations(path).replace("a", "another", null)).toBe(false);
    expect(await fileCreations(path).replace("constructor", "another", null)).toBe(false);
  });

  it("that were damaged are an error, and stay as they are", async () => {
    const directory = makeDirectory();
    const path = join(directory, "creations.json");
    for (const text of ["", "{", '{"version":2,"creations":{}}', '{"version":1,"creations":{"a":1}}']) {
      await writeFile(path, text);
      await expect(fileCreations(path).load("a")).rejects.toMatchObject({ code: "configuration" });
      await expect(fileCreations(path).replace("a", null, "x")).rejects.toMatchObject({ code: "configuration" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});
