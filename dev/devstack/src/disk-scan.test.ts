import { execFileSync } from "node:child_process";
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { scanDisk, windowsOf, type Needle } from "./disk-scan.ts";

let directory: string;
const words: Needle = { of: "the words", bytes: Buffer.from("like no other words in the world"), contentOnly: false };
const scan = (needles: readonly Needle[], since = 0) =>
  scanDisk(directory, { isDatabase: false, without: join(directory, "client"), since, needles });

beforeEach(async () => {
  directory = makeDirectory();
  await mkdir(join(directory, "blobs"));
  await mkdir(join(directory, "client"));
});

describe("scanDisk", () => {
  it("finds nothing where nothing is, and says how much it looked at", async () => {
    await writeFile(join(directory, "blobs", "a"), Buffer.alloc(1000));
    expect(await scan([words])).toEqual({ files: 1, bytes: 1000, needles: 1, found: [] });
  });

  it.each([
    ["at the beginning", 0],
    ["across the border of what is read at once", 8 * 1024 * 1024 - 10],
    ["far behind", 9 * 1024 * 1024],
  ])("finds plaintext %s", async (_where, at) => {
    await writeFile(join(directory, "blobs", "a"), Buffer.concat([Buffer.alloc(at), words.bytes, Buffer.alloc(5)]));
    expect((await scan([words])).found).toEqual([{ needle: "the words", file: join("blobs", "a") }]);
  });

  it("leaves out the client's own files, older ones, and databases where common words may stand", async () => {
    await writeFile(join(directory, "client", "journal"), words.bytes);
    await writeFile(join(directory, "blobs", "old"), words.bytes);
    await utimes(join(directory, "blobs", "old"), 1, 1);
    await writeFile(join(directory, "coffer.sqlite-wal"), words.bytes);
    expect((await scan([{ ...words, contentOnly: true }], 2_000)).found).toEqual([]);
    expect((await scan([words], 2_000)).found).toEqual([{ needle: "the words", file: "coffer.sqlite-wal" }]);
  });

  // POSIX drops a process's locks on a file with the first descriptor of it that is closed (sqlite.org/howtocorrupt.html §2.2).
  it("costs a database that is open in this process none of its locks", async () => {
    const path = join(directory, "coffer.sqlite");
    using database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE rows (name TEXT)");
    await scan([words]);
    // The last process to close a database deletes its write-ahead log, which this one still writes to.
    inAnotherProcess(path, "INSERT INTO rows VALUES ('theirs') RETURNING name");
    database.exec("INSERT INTO rows VALUES ('ours')");
    expect(inAnotherProcess(path, "SELECT name FROM rows")).toEqual([{ name: "theirs" }, { name: "ours" }]);
  });
});

function inAnotherProcess(path: string, statement: string): unknown {
  const program = `const database = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
    console.log(JSON.stringify(database.prepare(process.argv[2]).all()));
    database.close();`;
  return JSON.parse(execFileSync(process.execPath, ["--eval", program, path, statement], { encoding: "utf8" }));
}

describe("windowsOf", () => {
  it("takes a piece out of the middle of each file that has one", async () => {
    const path = join(directory, "a.txt");
    await writeFile(path, `${"x".repeat(100)}like no other words in the world${"x".repeat(100)}`);
    const flat = join(directory, "flat");
    await writeFile(flat, Buffer.alloc(500));
    const needles = await windowsOf([
      { parts: ["a.txt"], path, size: 232 },
      { parts: ["flat"], path: flat, size: 500 },
      { parts: ["tiny"], path: flat, size: 3 },
    ]);
    expect(needles).toEqual([{ of: "a.txt", bytes: words.bytes, contentOnly: true }]);
  });
});
