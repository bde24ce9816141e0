import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { fileStore } from "../../node/store/file-store.ts";
import { memoryStore } from "../../store/memory-store.ts";
import type { SeenMemory } from "./seen-memory.ts";
import { seenStore } from "./seen-store.ts";

const OBJECT = `0x${"ab".repeat(32)}`;
const FILE = `seen-${"ab".repeat(32)}.table`;
const ONE = "0197b6f0-0000-7000-8000-000000000001";
const TWO = "0197b6f0-0000-7000-8000-000000000002";

const seen = (number: number, history = "a") => ({
  number: BigInt(number),
  generation: 3n,
  after: 0n,
  hash: Uint8Array.from(
    createHash("sha256")
      .update(`${history} ${String(number)}`)
      .digest(),
  ),
});

async function noted(directory: string, ...numbers: [id: string, number: number][]): Promise<SeenMemory> {
  const memory = await seenStore(fileStore(directory)).open(OBJECT);
  for (const [id, number] of numbers) memory.record("version", id, seen(number));
  await memory.flush();
  return memory;
}

async function numberOf(directory: string, id: string): Promise<number | null> {
  const found = (await seenStore(fileStore(directory)).open(OBJECT)).find("version", id);
  return found === null ? null : Number(found.number);
}

describe("what was seen", () => {
  it("outlives the process, for the owner alone, with nothing in it but ids, numbers and digests [S21]", async () => {
    const directory = makeDirectory();
    const place = join(directory, "deep", "vault-seen");
    const memory = await seenStore(fileStore(place)).open(OBJECT);
    expect(memory.find("version", ONE)).toBeNull();
    memory.record("version", ONE, seen(7));
    memory.record("entry", ONE, { ...seen(2), generation: 2n ** 63n });
    await memory.flush();
    const again = await seenStore(fileStore(place)).open(OBJECT);
    expect(again.find("version", ONE)).toEqual(seen(7));
    expect(again.find("entry", ONE)).toEqual({ ...seen(2), generation: 2n ** 63n });
    expect(again.find("version", TWO)).toBeNull();
    expect((await stat(join(place, FILE))).mode & 0o777).toBe(0o600);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    const texts = (await readFile(join(place, FILE), "latin1")).match(/[ -~]{8,}/g) ?? [];
    expect(texts.map((text) => text.replace(/^[^a-z]*(?=version|entry|coffer)/, "")).sort()).toEqual([
      expect.stringMatching(/^coffer-table 1 [0-9a-f]{16}$/),
      expect.stringContaining(`entry ${ONE}`),
      expect.stringContaining(`version ${ONE}`),
    ]);
    expect((await seenStore(fileStore(place)).open(`0x${"cd".repeat(32)}`)).find("version", ONE)).toBeNull();
  });

  it("never goes back, also when another process has seen less", async () => {
    const directory = makeDirectory();
    const [one, two] = [await noted(directory), await noted(directory)];
    one.record("version", ONE, seen(7));
    one.record("version", ONE, seen(6));
    await one.flush();
    two.record("version", ONE, seen(5));
    await two.flush();
    expect(two.find("version", ONE)).toEqual(seen(7));
    expect(await numberOf(directory, ONE)).toBe(7);
  });

  it("is the first of two statements with one number, for every process: the other history is refused from then on [S18]", async () => {
    const directory = makeDirectory();
    const [one, two] = [await noted(directory), await noted(directory)];
    one.record("version", ONE, seen(5, "a"));
    two.record("version", ONE, seen(5, "b"));
    expect(two.find("version", ONE)).toEqual(seen(5, "b"));
    await one.flush();
    await two.flush();
    for (const memory of [one, two, await seenStore(fileStore(directory)).open(OBJECT)])
      expect(memory.find("version", ONE)).toEqual(seen(5, "a"));
  });

  it("is followed while another process goes on", async () => {
    const directory = makeDirectory();
    const reading = await noted(directory);
    await noted(directory, [ONE, 4]);
    expect(reading.find("version", ONE)).toBeNull();
    await reading.refresh();
    expect(reading.find("version", ONE)).toEqual(seen(4));
  });

  it("is written without being asked for", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory);
    memory.record("version", ONE, seen(4));
    await expect.poll(() => numberOf(directory, ONE)).toBe(4);
  });

  it("is flushed as far as it was noted before, while others go on", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory);
    let number = 1;
    const others = setInterval(() => {
      memory.record("entry", TWO, seen((number += 1)));
    });
    try {
      memory.record("version", ONE, seen(4));
      await memory.flush();
      const before = number;
      expect(await numberOf(directory, ONE)).toBe(4);
      memory.record("version", ONE, seen(5));
      await Promise.all([memory.flush(), memory.flush()]);
      expect(await numberOf(directory, ONE)).toBe(5);
      expect(number).toBeGreaterThanOrEqual(before);
    } finally {
      clearInterval(others);
    }
    await memory.flush();
  });

  it("can be forgotten, of one file or of the vault, which other processes take over", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory, [ONE, 4], [TWO, 9]);
    const other = await noted(directory);
    await memory.forget(ONE);
    expect([memory.find("version", ONE), memory.find("version", TWO)]).toEqual([null, seen(9)]);
    expect(other.find("version", ONE)).toEqual(seen(4));
    other.record("entry", TWO, seen(1));
    await other.flush();
    expect([other.find("version", ONE), other.find("version", TWO)]).toEqual([null, seen(9)]);
    await memory.forget(null);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([null, null]);
    expect(await readdir(directory)).toEqual([]);
  });

  it("is of the 65,536 that were noted last [S20]", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory, [ONE, 1]);
    const idOf = (at: number): string => `00000000-0000-4000-8000-${at.toString(16).padStart(12, "0")}`;
    const first = seen(1);
    for (let at = 0; at < 65_536; at += 1) memory.record("version", idOf(at), first);
    await memory.flush();
    const again = await seenStore(fileStore(directory)).open(OBJECT);
    expect([again.find("version", ONE), again.find("version", idOf(0))]).toEqual([null, first]);
  });
});

describe("the store of what was seen", () => {
  it("is taken up where a crash cut off its last write, without a word [S20]", async () => {
    const directory = makeDirectory();
    const path = join(directory, FILE);
    await noted(directory, [ONE, 4]);
    await noted(directory, [TWO, 9]);
    await truncate(path, (await stat(path)).size - 40);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([4, null]);
    await noted(directory, [TWO, 10]);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([4, 10]);
  });

  it("that is damaged is an error that names the repair, for reading and for writing [S20]", async () => {
    const directory = makeDirectory();
    const path = join(directory, FILE);
    const memory = await noted(directory, [ONE, 4], [TWO, 9]);
    await memory.refresh();
    const damaged = (await readFile(path, "latin1")).replace("version", "Version");
    await writeFile(path, damaged, "latin1");
    const refusal = { code: "configuration", message: expect.stringContaining("Put a copy of it back, or delete it") };
    await expect(seenStore(fileStore(directory)).open(OBJECT)).rejects.toMatchObject(refusal);
    memory.record("version", ONE, seen(5));
    await expect(memory.flush()).rejects.toMatchObject(refusal);
    await expect(memory.refresh()).rejects.toMatchObject(refusal);
    expect(await readFile(path, "latin1")).toBe(damaged);
  });

  it("that cannot be written tells it once, and costs no read; what was noted is written when it can be", async () => {
    const directory = join(makeDirectory(), "store");
    await noted(directory, [ONE, 4]);
    const failures: unknown[] = [];
    const onUnwritten = (error: unknown): void => void failures.push(error);
    const memory = await seenStore(fileStore(directory), { onUnwritten }).open(OBJECT);
    // Permissions do not stop the superuser, a file in the place of the lock does.
    await writeFile(join(directory, `${FILE}.lock`), "");
    memory.record("version", TWO, seen(9));
    await expect(memory.flush()).rejects.toThrow("ENOTDIR");
    memory.record("version", TWO, seen(10));
    await expect(memory.flush()).rejects.toThrow("ENOTDIR");
    await memory.refresh();
    expect([memory.find("version", ONE), memory.find("version", TWO)]).toEqual([seen(4), seen(10)]);
    expect(failures).toHaveLength(1);
    await rm(join(directory, `${FILE}.lock`));
    await memory.flush();
    expect(await numberOf(directory, TWO)).toBe(10);
  });

  it("may be any store", async () => {
    const store = memoryStore();
    const memory = await seenStore(store).open(OBJECT);
    memory.record("version", ONE, seen(4));
    await memory.flush();
    expect((await seenStore(store).open(OBJECT)).find("version", ONE)).toEqual(seen(4));
    await expect(seenStore(store).open("0x1")).rejects.toThrow(TypeError);
  });
});

const run = promisify(execFile);
const MODULES = ["seen-store.ts", "../../node/store/file-store.ts"].map((module) =>
  JSON.stringify(new URL(module, import.meta.url).href),
);

/** `work` sees `memory`, `note(id, number)` and `args`. */
function inProcess(directory: string, work: string, ...args: string[]): Promise<unknown> {
  const script = `
    import { seenStore } from ${MODULES[0] ?? ""};
    import { fileStore } from ${MODULES[1] ?? ""};
    const [directory, ...args] = process.argv.slice(1);
    const memory = await seenStore(fileStore(directory)).open("${OBJECT}");
    const note = (id, number) => memory.record("version", id, { number: BigInt(number), generation: 1n, after: 0n, hash: new Uint8Array(32) });
    ${work}`;
  const options = ["--conditions=coffer-source", "--input-type=module", "-e", script, "--", directory, ...args];
  return run(process.execPath, options);
}

describe("processes", () => {
  it("that end, or are killed, have written what they flushed [S20]", async () => {
    const directory = makeDirectory();
    await Promise.all([
      inProcess(directory, `note("${ONE}", 4);`),
      inProcess(directory, `note("${TWO}", 9); await memory.flush(); process.kill(process.pid, "SIGKILL");`).catch(
        () => undefined,
      ),
    ]);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([4, 9]);
  });

  it("four at once lose nothing of each other, while the file is written anew under them [S18]", async () => {
    const directory = makeDirectory();
    // Each line of the first kind is written once: if it is lost, it stays lost. The others make most of the file void.
    const idOf = (own: number, number: number) => `0197b6f0-0000-7000-8000-${`${own}${number}`.padStart(12, "0")}`;
    const work = `
      const [own] = args.map(Number);
      const idOf = ${idOf.toString()};
      for (let number = 100; number < 180; number += 1) {
        note(idOf(own, number), 1);
        for (let at = 0; at < 40; at += 1) note(idOf(at, 1), number * 4 + own);
        await memory.flush();
      }`;
    const numbers = [1, 2, 3, 4];
    await Promise.all(numbers.map((own) => inProcess(directory, work, String(own))));
    const memory = await seenStore(fileStore(directory)).open(OBJECT);
    const lost = numbers.flatMap((own) =>
      Array.from({ length: 80 }, (_, at) => idOf(own, 100 + at)).filter((id) => memory.find("version", id) === null),
    );
    expect(lost).toEqual([]);
    expect(memory.find("version", idOf(7, 1))?.number).toBe(720n);
    expect(await readdir(directory)).toEqual([FILE]);
  });
});
