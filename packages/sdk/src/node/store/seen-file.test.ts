import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import type { SeenMemory } from "../../shared-vaults/trust/seen-memory.ts";
import { fileSeen } from "./seen-file.ts";

const OBJECT = `0x${"ab".repeat(32)}`;
const FILE = `${"ab".repeat(32)}.log`;
const ONE = "0197b6f0-0000-7000-8000-000000000001";
const TWO = "0197b6f0-0000-7000-8000-000000000002";
const LINE = 109;

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
  const memory = await fileSeen(directory).open(OBJECT);
  for (const [id, number] of numbers) memory.note("version", id, seen(number));
  await memory.flush();
  return memory;
}

async function numberOf(directory: string, id: string): Promise<number | null> {
  const found = (await fileSeen(directory).open(OBJECT)).find("version", id);
  return found === null ? null : Number(found.number);
}

const warnings = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
afterEach(() => {
  warnings.mockClear();
});

describe("what was seen", () => {
  it("outlives the process, for the owner alone, with nothing in it but ids, numbers and digests [S21]", async () => {
    const directory = makeDirectory();
    const place = join(directory, "deep", "vault-seen");
    const memory = await fileSeen(place).open(OBJECT);
    expect(memory.find("version", ONE)).toBeNull();
    memory.note("version", ONE, seen(7));
    memory.note("entry", ONE, { ...seen(2), generation: 2n ** 63n });
    await memory.flush();
    const again = await fileSeen(place).open(OBJECT);
    expect(again.find("version", ONE)).toEqual(seen(7));
    expect(again.find("entry", ONE)).toEqual({ ...seen(2), generation: 2n ** 63n });
    expect(again.find("version", TWO)).toBeNull();
    expect((await stat(join(place, FILE))).mode & 0o777).toBe(0o600);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(place, FILE), "utf8")).toMatch(
      /^coffer-seen 1 0x(ab){32} [0-9a-f]{16}(\n[A-Za-z0-9+/]{100}[0-9a-f]{8}){2}$/,
    );
    expect((await fileSeen(place).open(`0x${"cd".repeat(32)}`)).find("version", ONE)).toBeNull();
  });

  it("never goes back, also when another process has seen less", async () => {
    const directory = makeDirectory();
    const [one, two] = [await noted(directory), await noted(directory)];
    one.note("version", ONE, seen(7));
    one.note("version", ONE, seen(6));
    await one.flush();
    two.note("version", ONE, seen(5));
    await two.flush();
    expect(two.find("version", ONE)).toEqual(seen(7));
    expect(await numberOf(directory, ONE)).toBe(7);
  });

  it("is the first of two statements with one number, for every process: the other history is refused from then on [S18]", async () => {
    const directory = makeDirectory();
    const [one, two] = [await noted(directory), await noted(directory)];
    one.note("version", ONE, seen(5, "a"));
    two.note("version", ONE, seen(5, "b"));
    expect(two.find("version", ONE)).toEqual(seen(5, "b"));
    await one.flush();
    await two.flush();
    for (const memory of [one, two, await fileSeen(directory).open(OBJECT)])
      expect(memory.find("version", ONE)).toEqual(seen(5, "a"));
  });

  it("is followed while another process goes on", async () => {
    const directory = makeDirectory();
    const now = vi.spyOn(performance, "now");
    try {
      now.mockReturnValue(10_000);
      const reading = await noted(directory);
      await noted(directory, [ONE, 4]);
      await reading.refresh();
      expect(reading.find("version", ONE)).toBeNull();
      now.mockReturnValue(11_001);
      await reading.refresh();
      expect(reading.find("version", ONE)).toEqual(seen(4));
    } finally {
      now.mockRestore();
    }
  });

  it("can be forgotten, of one file or of the vault, which other processes take over", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory, [ONE, 4], [TWO, 9]);
    const other = await noted(directory);
    await memory.forget(ONE);
    expect([memory.find("version", ONE), memory.find("version", TWO)]).toEqual([null, seen(9)]);
    expect(other.find("version", ONE)).toEqual(seen(4));
    other.note("entry", TWO, seen(1));
    await other.flush();
    expect([other.find("version", ONE), other.find("version", TWO)]).toEqual([null, seen(9)]);
    await memory.forget(null);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([null, null]);
    expect((await stat(join(directory, FILE))).mode & 0o777).toBe(0o600);
  });

  it("is written anew when most of its lines are void", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory);
    for (let number = 1; number <= 1_200; number += 1) {
      memory.note("version", ONE, seen(number));
      memory.note("version", TWO, seen(number));
      if (number % 100 === 0) await memory.flush();
    }
    expect((await stat(join(directory, FILE))).size).toBeLessThan(LINE * 1_000);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([1_200, 1_200]);
  });

  it("is written anew when it is opened, where processes that ended left too many void lines", async () => {
    const directory = makeDirectory();
    const path = join(directory, FILE);
    await noted(directory, [ONE, 4]);
    const text = await readFile(path, "utf8");
    await appendFile(path, text.slice(text.indexOf("\n")).repeat(1_000));
    expect([await numberOf(directory, ONE), (await stat(path)).size]).toEqual([4, text.length]);
  });

  it("is of the 65,536 that were noted last [S20]", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory, [ONE, 1]);
    const idOf = (at: number): string => `00000000-0000-4000-8000-${at.toString(16).padStart(12, "0")}`;
    const first = seen(1);
    for (let at = 0; at < 65_536; at += 1) memory.note("version", idOf(at), first);
    await memory.flush();
    const again = await fileSeen(directory).open(OBJECT);
    expect([again.find("version", ONE), again.find("version", idOf(0))]).toEqual([null, first]);
  });
});

describe("the file", () => {
  it("is taken up where a crash cut its last line off, without a word [S20]", async () => {
    const directory = makeDirectory();
    const path = join(directory, FILE);
    await noted(directory, [ONE, 4], [TWO, 9]);
    await truncate(path, (await stat(path)).size - 40);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([4, null]);
    await noted(directory, [TWO, 10]);
    expect([await numberOf(directory, ONE), await numberOf(directory, TWO)]).toEqual([4, 10]);
    expect(warnings).not.toHaveBeenCalled();
    expect(await readdir(directory)).toEqual([FILE]);
  });

  it.each<[string, (text: string) => string]>([
    ["a changed line", (text) => text.replace(/\n./, (first) => (first === "\nB" ? "\nC" : "\nB"))],
    ["another vault's header", (text) => text.replace("abab", "baba")],
    ["no header", (text) => text.slice(text.indexOf("\n"))],
    ["zeros in the middle", (text) => text.replace("\n", `\n${"\0".repeat(4096)}\n`)],
    ["a line without an end in front", (text) => `${"x".repeat(600_000)}\n${text}`],
  ])("with %s is set aside with a warning, and its whole lines still count", async (_, change) => {
    const directory = makeDirectory();
    const path = join(directory, FILE);
    await noted(directory, [ONE, 4], [TWO, 9]);
    const damaged = change(await readFile(path, "latin1"));
    await writeFile(path, damaged);
    expect(await numberOf(directory, TWO)).toBe(9);
    expect(warnings).toHaveBeenCalledTimes(1);
    expect(await readFile(`${path}.damaged`, "latin1")).toBe(damaged);
    expect(await numberOf(directory, TWO)).toBe(9);
    expect(warnings).toHaveBeenCalledTimes(1);
  });

  it("of a later version is left as it is, with an error that says so", async () => {
    const directory = makeDirectory();
    const text = `coffer-seen 2 of another form\n`;
    await writeFile(join(directory, FILE), text);
    await expect(fileSeen(directory).open(OBJECT)).rejects.toMatchObject({ code: "configuration" });
    expect(await readFile(join(directory, FILE), "utf8")).toBe(text);
  });

  it("that cannot be read is an error, and one that cannot be written costs no read", async () => {
    const directory = makeDirectory();
    const memory = await noted(directory, [ONE, 4]);
    await rm(join(directory, FILE));
    await mkdir(join(directory, FILE));
    await expect(fileSeen(directory).open(OBJECT)).rejects.toMatchObject({ code: "configuration" });
    memory.note("version", TWO, seen(9));
    await expect(memory.flush()).rejects.toThrow("EISDIR");
    expect(memory.find("version", TWO)).toEqual(seen(9));
    await rm(join(directory, FILE), { recursive: true });
    await memory.flush();
    expect(await numberOf(directory, TWO)).toBe(9);
  });

  it("is not made again where somebody removed its directory", async () => {
    const directory = makeDirectory();
    const place = join(directory, "vault-seen");
    const memory = await noted(place, [ONE, 4]);
    await rm(place, { recursive: true });
    memory.note("version", TWO, seen(1));
    await memory.flush();
    expect(await readdir(directory)).toEqual([]);
  });
});

const run = promisify(execFile);
const MODULE = JSON.stringify(new URL("seen-file.ts", import.meta.url).href);

/** `work` sees `memory`, `note(id, number)` and `args`. */
function inProcess(directory: string, work: string, ...args: string[]): Promise<unknown> {
  const script = `
    import { fileSeen } from ${MODULE};
    const [directory, ...args] = process.argv.slice(1);
    const memory = await fileSeen(directory).open("${OBJECT}");
    const note = (id, number) => memory.note("version", id, { number: BigInt(number), generation: 1n, after: 0n, hash: new Uint8Array(32) });
    ${work}`;
  const options = ["--conditions=coffer-source", "--input-type=module", "-e", script, "--", directory, ...args];
  return run(process.execPath, options);
}

describe("processes", () => {
  it("that end have written what they noted a moment ago [S20]", async () => {
    const directory = makeDirectory();
    await Promise.all([
      inProcess(directory, `note("${ONE}", 4);`),
      inProcess(directory, `note("${TWO}", 9); process.exit(0);`),
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
    const memory = await fileSeen(directory).open(OBJECT);
    const lost = numbers.flatMap((own) =>
      Array.from({ length: 80 }, (_, at) => idOf(own, 100 + at)).filter((id) => memory.find("version", id) === null),
    );
    expect(lost).toEqual([]);
    expect(memory.find("version", idOf(7, 1))?.number).toBe(720n);
    expect((await stat(join(directory, FILE))).size).toBeLessThan(LINE * 4_000);
    expect(await readdir(directory)).toEqual([FILE]);
    expect(warnings).not.toHaveBeenCalled();
  });
});
