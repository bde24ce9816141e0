import { execFile, spawn } from "node:child_process";
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { describeProfileStore } from "../../../../../test/suites/profile-store.ts";
import { followTable, rowsOf, type RowChange, type Table } from "../../store/profile-store.ts";
import { fileStore, storeDirectory } from "./file-store.ts";

const row = (key: string, value: string | null): RowChange => ({
  key,
  value: value === null ? null : Buffer.from(value),
});

async function contentOf(table: Table): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { key, value } of rowsOf(table)) found[key] = Buffer.from(value).toString();
  return found;
}

let directory: string;
let path: string;

beforeEach(() => {
  directory = makeDirectory();
  path = join(directory, "t.table");
});

const table = (): Table => fileStore(directory).table("t");

describe("a store in files", () => {
  describeProfileStore(() => ({ open: () => fileStore(directory) }));

  it("is in the configuration's directory, for its owner alone, and leaves no locks", async () => {
    expect(storeDirectory({ SERVICE_CONFIG_DIR: "/own" })).toBe("/own/store");
    const deep = join(directory, "deep", "store");
    await fileStore(deep)
      .table("t")
      .write([row("a", "1")]);
    expect((await stat(deep)).mode & 0o777).toBe(0o700);
    expect((await stat(join(deep, "t.table"))).mode & 0o777).toBe(0o600);
    await fileStore(deep)
      .table("t")
      .write([row("a", "2")], { erase: true });
    expect((await stat(join(deep, "t.table"))).mode & 0o777).toBe(0o600);
    expect(await readdir(deep)).toEqual(["t.table"]);
  });

  it("is rewritten when most of a file no longer counts", async () => {
    for (let round = 0; round < 40; round += 1)
      await table().write([row("a", String(round).repeat(10_000)), row("b", "1")]);
    expect(statSync(path).size).toBeLessThan(200_000);
    expect((await contentOf(table()))["a"]).toBe("39".repeat(10_000));
  });

  it("has no traces of a secret once that is deleted, also where a killed process left some", async () => {
    const secrets = ["refresh-token-one", "refresh-token-two"];
    const kept = fileStore(directory).table("t");
    for (const secret of secrets) await kept.write([row("work", secret), row("other", "stays")], { erase: true });
    expect(readFileSync(path, "latin1")).not.toContain(secrets[0]);
    writeFileSync(`${path}.new`, secrets.join());
    await kept.write([row("work", null)], { erase: true });
    const left = (await readdir(directory)).map((name) => readFileSync(join(directory, name), "latin1")).join("\n");
    expect([left.includes("stays"), ...secrets.map((secret) => left.includes(secret))]).toEqual([true, false, false]);
    await kept.clear();
    expect(await readdir(directory)).toEqual([]);
  });

  it("overwrites what a file held of a secret before the file goes", async () => {
    await table().write([row("a", "refresh-token")], { erase: true });
    // A second name shows what is in the blocks of the file afterwards.
    await promisify(execFile)("ln", [path, join(directory, "blocks")]);
    await table().write([row("a", "next")], { erase: true });
    expect(readFileSync(join(directory, "blocks")).every((byte) => byte === 0)).toBe(true);
    expect(await contentOf(table())).toEqual({ a: "next" });
  });

  it("sees at once what another process writes, also one that rewrites or puts back the file", async () => {
    const [reading, writing] = [table(), table()];
    await writing.write([row("a", "1")]);
    expect(await contentOf(reading)).toEqual({ a: "1" });
    const copy = readFileSync(path);
    await writing.write([row("b", "1")]);
    expect(await contentOf(reading)).toEqual({ a: "1", b: "1" });
    await writing.write([row("c", "1")], { erase: true });
    expect(await contentOf(reading)).toEqual({ a: "1", b: "1", c: "1" });
    writeFileSync(path, copy);
    expect(await contentOf(reading)).toEqual({ a: "1" });
    await reading.write([row("d", "1")]);
    expect(await contentOf(writing)).toEqual({ a: "1", d: "1" });
  });

  it("is followed truly from a copy that was put back, and written to since", async () => {
    const following = table();
    await following.write([row("a", "1")]);
    const copy = readFileSync(path);
    await following.write([row("b", "1")]);
    const rows = new Map<string, string>();
    const follow = (since: string | null) =>
      followTable(following, since, {
        clear: () => {
          rows.clear();
        },
        set: (key, value) => void (value === null ? rows.delete(key) : rows.set(key, Buffer.from(value).toString())),
      });
    const cursor = await follow(null);
    expect(Object.fromEntries(rows)).toEqual({ a: "1", b: "1" });
    writeFileSync(path, copy);
    for (const key of ["c", "d", "e"]) await table().write([row(key, "longer than what was there before")]);
    await follow(cursor);
    expect(Object.fromEntries(rows)).toEqual(await contentOf(table()));
    expect([...rows.keys()]).toEqual(["a", "c", "d", "e"]);
  });
});

describe("a file", () => {
  it("cut off anywhere has the writes before the cut, and takes new ones", async () => {
    await table().write([row("a", "1"), row("b", "1")]);
    const sizes = [statSync(path).size];
    await table().write([row("a", "2"), row("c", "x".repeat(700))]);
    sizes.push(statSync(path).size);
    await table().write([row("b", null)]);
    const whole = readFileSync(path);
    const states = [
      { a: "1", b: "1" },
      { a: "2", b: "1", c: "x".repeat(700) },
    ];
    for (let size = sizes[0] ?? 0; size < whole.length; size += size % 100 === 0 ? 7 : 3) {
      writeFileSync(path, whole.subarray(0, size));
      const state = states[size >= (sizes[1] ?? 0) ? 1 : 0];
      expect(await contentOf(table())).toEqual(state);
      await table().write([row("late", "1")]);
      expect(await contentOf(table())).toEqual({ ...state, late: "1" });
    }
  });

  it.each<[string, (size: number) => void]>([
    ["zeros at its end", () => appendFileSync(path, Buffer.alloc(5_000))],
    [
      "a frame without one of its sectors",
      (size) => {
        const whole = readFileSync(path);
        whole.fill(0, Math.ceil(size / 512) * 512, Math.ceil(size / 512) * 512 + 512);
        writeFileSync(path, whole);
      },
    ],
    [
      "a frame without the sectors of its head",
      (size) => {
        const whole = readFileSync(path);
        whole.fill(0, size, size + 512);
        writeFileSync(path, whole);
      },
    ],
  ])("as a power failure leaves it, with %s, has what was resolved", async (_, fail) => {
    await table().write([row("a", "1")]);
    const { size } = statSync(path);
    await table().write([row("b", "x".repeat(2_000))]);
    const isSecondLost = _ !== "zeros at its end";
    fail(size);
    const state = isSecondLost ? { a: "1" } : { a: "1", b: "x".repeat(2_000) };
    expect(await contentOf(table())).toEqual(state);
    await table().write([row("c", "1")]);
    expect(await contentOf(table())).toEqual({ ...state, c: "1" });
  });

  it("loses several relaxed writes together where a power failure left zeros for them", async () => {
    await table().write([row("a", "1")]);
    const sizes = [statSync(path).size];
    for (const key of ["b", "c", "d"]) {
      await table().write([row(key, "x".repeat(2_000))], { durability: "relaxed" });
      sizes.push(statSync(path).size);
    }
    const whole = readFileSync(path);
    for (const from of [sizes[0] ?? 0, (sizes[1] ?? 0) + 512, (sizes[2] ?? 0) + 100]) {
      writeFileSync(path, Buffer.from(whole).fill(0, Math.ceil(from / 512) * 512));
      const present = ["b", "c", "d"].filter((_, at) => (sizes[at + 1] ?? 0) <= from);
      expect(Object.keys(await contentOf(table()))).toEqual(["a", ...present]);
    }
  });

  it.each<[string, (whole: Buffer) => Buffer]>([
    ["a changed byte in a frame in the middle", (whole) => changed(whole, 50)],
    ["a changed byte in the head of a frame", (whole) => changed(whole, 33)],
    ["a changed byte in its last frame", (whole) => changed(whole, whole.length - 1)],
    ["a changed header", (whole) => changed(whole, 3)],
    ["zeros in the middle", (whole) => Buffer.concat([whole.subarray(0, 32), Buffer.alloc(4_096), whole.subarray(32)])],
    ["nothing in it", () => Buffer.alloc(0)],
    ["something else in it", () => Buffer.from('{"version":1}')],
  ])("with %s refuses with an error that names the repair, and stays as it is", async (_, damage) => {
    for (const key of ["a", "b", "c"]) await table().write([row(key, "value of this row")]);
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    const refusal = {
      code: "configuration",
      message: expect.stringMatching(/t\.table is damaged .* Put a copy of it back, or delete it/),
    };
    const refusing = table();
    for (const use of [
      () => refusing.get("a"),
      () => refusing.page({ limit: 1 }),
      () => refusing.changes(null),
      () => refusing.write([row("a", "2")]),
      () => refusing.write([row("a", "2")], { erase: true }),
    ])
      await expect(use()).rejects.toMatchObject(refusal);
    expect(readFileSync(path).equals(damaged)).toBe(true);
    await refusing.clear();
    await refusing.write([row("a", "3")]);
    expect(await contentOf(table())).toEqual({ a: "3" });
  });

  it("of a later version is left as it is", async () => {
    await writeFile(path, "coffer-table 2 of another form\n");
    await expect(table().get("a")).rejects.toThrow("update this client");
    await expect(table().write([row("a", "1")])).rejects.toMatchObject({ code: "configuration" });
    expect(await readFile(path, "utf8")).toBe("coffer-table 2 of another form\n");
  });

  it("that cannot be written loses nothing, and takes what comes when it can", async () => {
    const kept = table();
    await kept.write([row("a", "1")]);
    const { size } = statSync(path);
    await mkdir(`${path}.new`);
    await mkdir(join(`${path}.new`, "in the way"));
    await expect(kept.write([row("a", "2")], { erase: true })).rejects.toThrow();
    expect([await contentOf(kept), statSync(path).size]).toEqual([{ a: "1" }, size]);
    truncateSync(path, size);
    await promisify(execFile)("rm", ["-r", `${path}.new`]);
    await kept.write([row("a", "2")], { erase: true });
    expect(await contentOf(table())).toEqual({ a: "2" });
  });
});

const STORE = JSON.stringify(new URL("file-store.ts", import.meta.url).href);

function inProcess(program: string, ...args: string[]) {
  const options = ["--conditions=coffer-source", "--input-type=module", "--eval", program, "--", directory, ...args];
  return promisify(execFile)(process.execPath, options);
}

const WRITER = `
  import { fileStore } from ${STORE};
  const [directory, own, rounds] = process.argv.slice(1);
  const table = fileStore(directory).table("t");
  const bytes = (text) => new TextEncoder().encode(text);
  for (let at = 0; at < Number(rounds); at += 1) {
    await table.update(["count"], (rows) => {
      const count = Number(new TextDecoder().decode(rows.get("count") ?? bytes("0"))) + 1;
      const changes = [{ key: "count", value: bytes(String(count)) }, { key: own + " " + at, value: bytes("x".repeat(900)) }];
      if (at >= 10) changes.push({ key: own + " " + (at - 10), value: null });
      return { result: undefined, changes };
    }, { erase: at % 20 === 7, durability: at % 2 === 0 ? "strict" : "relaxed" });
    process.stdout.write(own + " " + at + "\\n");
  }`;

/** Kills a writer some milliseconds after it has reported its first write. Resolves with how many it reported. */
async function killWriter(own: string, afterMs: number): Promise<number> {
  const options = [
    "--conditions=coffer-source",
    "--input-type=module",
    "--eval",
    WRITER,
    "--",
    directory,
    own,
    "100000",
  ];
  const child = spawn(process.execPath, options);
  child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), afterMs));
  return (await text(child.stdout)).split("\n").length - 1;
}

describe("processes", () => {
  it("four at once lose nothing of each other, while the file is rewritten under them", async () => {
    await Promise.all([1, 2, 3, 4].map((own) => inProcess(WRITER, String(own), "100")));
    const { count, ...rows } = await contentOf(table());
    expect([count, Object.keys(rows).length]).toEqual(["400", 40]);
    expect(await readdir(directory)).toEqual(["t.table"]);
  }, 60_000);

  it("killed at random keep every write that they have reported", async () => {
    let count = 0;
    for (let round = 0; round < 6; round += 1) {
      const done = await killWriter(`r${String(round)}`, 5 + 20 * round);
      const content = await contentOf(table());
      expect(Number(content["count"] ?? "0")).toBeGreaterThanOrEqual(count + done);
      // At most the write that was under way is there beside the reported ones.
      expect(Number(content["count"] ?? "0")).toBeLessThanOrEqual(count + done + 1);
      count = Number(content["count"] ?? "0");
    }
    expect(count).toBeGreaterThan(0);
  }, 60_000);
});

function changed(whole: Buffer, at: number): Buffer {
  const copy = Buffer.from(whole);
  copy[at] = (copy[at] ?? 0) ^ 0x20;
  return copy;
}
