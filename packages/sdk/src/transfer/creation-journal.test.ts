import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { fileStore } from "../node/store/file-store.ts";
import { creationJournal } from "./creation-journal.ts";

const journal = (directory: string) => creationJournal(fileStore(directory));

describe("unfinished creations in a profile store", () => {
  it("outlive the process, each by itself, and are gone when they are finished", async () => {
    const directory = join(makeDirectory(), "deep");
    const creations = journal(directory);
    expect(await creations.load("a")).toBeNull();
    expect(await creations.replace("a", null, "first of a")).toBe(true);
    expect(await creations.replace("b", null, "b")).toBe(true);
    expect(await creations.replace("a", "first of a", "second of a")).toBe(true);
    const again = journal(directory);
    expect([await again.load("a"), await again.load("b")]).toEqual(["second of a", "b"]);
    expect(await again.replace("a", "second of a", null)).toBe(true);
    expect(await again.replace("never begun", null, null)).toBe(true);
    expect([await creations.load("a"), await creations.load("b")]).toEqual([null, "b"]);
    expect(await creations.load("constructor")).toBeNull();
  });

  it("are exchanged only for what was read: of two processes at once one keeps its own", async () => {
    const directory = makeDirectory();
    const kept = await Promise.all(["one", "two", "three"].map((own) => journal(directory).replace("a", null, own)));
    expect(kept.filter((isKept) => isKept)).toHaveLength(1);
    expect(await journal(directory).load("a")).toBe(["one", "two", "three"][kept.indexOf(true)]);
    expect(await journal(directory).replace("a", "another", null)).toBe(false);
    expect(await journal(directory).replace("constructor", "another", null)).toBe(false);
  });

  it("that were damaged are an error, and stay as they are", async () => {
    const directory = makeDirectory();
    const path = join(directory, "creations.table");
    for (const text of ["", "{", '{"version":1,"creations":{}}']) {
      await writeFile(path, text);
      await expect(journal(directory).load("a")).rejects.toMatchObject({ code: "configuration" });
      await expect(journal(directory).replace("a", null, "x")).rejects.toMatchObject({ code: "configuration" });
      expect(await readFile(path, "utf8")).toBe(text);
    }
  });
});
