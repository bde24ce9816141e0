/** The scan that every test file ends with: what it sees, that it says nothing of it, and that it cannot be blind. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { scanUnit, type ScanOutcome } from "../kit/scan/scan-unit.ts";
import { addOutcomes, writeOutcome } from "../kit/scan/tally.ts";
import { SEED_VARIABLE, UNIT_VARIABLE } from "../kit/scan/unit.ts";

const PROGRAM = join(import.meta.dirname, "leaking-program.ts");

/** Chance would now and then choose the same window of the content twice. */
const SEED = "1";

let unit: string;

beforeEach(async () => {
  unit = makeDirectory();
});

/** Runs the program in a unit of its own. */
async function run(mode: string): Promise<void> {
  const child = spawn(process.execPath, [PROGRAM, mode, join(unit, "data")], {
    env: { ...process.env, [UNIT_VARIABLE]: unit, [SEED_VARIABLE]: SEED },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const [code] = (await once(child, "close")) as [number];
  expect(code, printed).toBe(0);
}

async function scanned(mode: string): Promise<ScanOutcome> {
  await run(mode);
  return scanUnit(unit);
}

describe("the scan of a test file", () => {
  it.each([
    ["content on the wire", /^wire of process \d+-0 at \d+: content \(raw\), port \d+ to port \d+, after PUT \/file$/],
    ["content on the wire before it is known", /^wire .*: content \(base64\)/],
    ["a key on the wire, in two writes", /^wire .*: key \(raw\)/],
    ["a key of WebCrypto on the wire", /^wire .*: key \(a list of numbers\)/],
    ["a name on the wire", /^wire .*: name \(percent-encoded\)/],
    ["a key on a server's disk", /^disk of a server, blobs\/one at 4: key \(base64\)/],
    ["content on the wire of a child", /^wire .*: content \(raw\)/],
    ["content on the wire of a thread", /^wire of process \d+-[1-9]\d* .*: content \(raw\)/],
    ["a name in the log of a child", /^output \S+-stderr\.log at 12: name \(raw\)/],
  ])("finds %s, and does not say it [S1]", async (mode, line) => {
    const { problems } = await scanned(mode);
    expect(problems).not.toEqual([]);
    for (const problem of problems) expect(problem).toMatch(/: (?:content|key|name) \(/);
    expect(
      problems.some((problem) => line.test(problem)),
      problems.join("\n"),
    ).toBe(true);
    expect(problems.join()).not.toContain("minutes");
  });

  it("finds nothing where nothing leaks, and says how much it looked at", async () => {
    const { problems, tally } = await scanned("nothing leaks");
    expect(problems).toEqual([]);
    expect(tally.wireBytes).toBeGreaterThan(1000);
    expect(tally.diskBytes).toBeGreaterThan(5000);
    expect(tally.processes).toBe(1);
    // Both keys that it encrypts with, twice for the content, and the one that it encrypts.
    expect(tally.secrets).toEqual({ content: 4, name: 1, key: 5, "chain-key": 0 });
  });

  it("finds a chain key as Sui writes it [S3]", async () => {
    await appendFile(
      join(unit, "1-0.secrets"),
      `chain-key ${Buffer.alloc(31, "seed of a wallet").toString("hex")}07\n`,
    );
    const { problems } = scanUnit(unit);
    expect(problems).toEqual([]);
    const seed = Buffer.concat([Buffer.alloc(31, "seed of a wallet"), Buffer.from([7])]);
    const { encodeSuiPrivateKey } = await import("@mysten/sui/cryptography");
    await writeFile(join(unit, "1-0.wire"), `key: ${encodeSuiPrivateKey(seed, "ED25519")}`);
    expect(scanUnit(unit).problems.some((problem) => problem.includes("at 5: chain-key (raw)"))).toBe(true);
  });

  it("leaves out what a test sends in the clear on purpose, and nothing else", async () => {
    await run("content on the wire");
    const lines = (await readFile(join(unit, await nameOf(".secrets")), "utf8")).trim().split("\n");
    const content = lines.filter((line) => line.startsWith("content ")).map((line) => line.split(" ")[1] ?? "");
    expect(content).toHaveLength(2);
    await writeFile(join(unit, "1-0.allowed"), `${content[0] ?? ""}\n`);
    const { problems } = scanUnit(unit);
    expect(problems.filter((problem) => problem.includes("content"))).toHaveLength(1);
  });

  it("names a process that it saw nothing of", async () => {
    await run("nothing leaks");
    await appendFile(join(unit, "1-0.processes"), "4194305 node server.ts\n");
    expect(scanUnit(unit).problems).toEqual(["a process that nothing was seen of: node server.ts"]);
  });

  async function nameOf(ending: string): Promise<string> {
    return (await readdir(unit)).find((name) => name.endsWith(ending)) ?? "";
  }
});

describe("the scan of the whole suite", () => {
  const much: ScanOutcome = {
    tally: {
      processes: 1e9,
      wireBytes: 1e12,
      diskBytes: 1e12,
      logBytes: 1e12,
      secrets: { content: 1e9, name: 1e9, key: 1e9, "chain-key": 1e9 },
    },
    problems: [],
  };

  it("is good when every file was scanned, much was seen and nothing found [S1]", () => {
    for (const name of ["test/a.test.ts", "test/b.test.ts"]) writeOutcome(unit, name, much);
    const total = addOutcomes(unit, 2);
    expect(total.problems).toEqual([]);
    expect(total.line).toMatch(
      /^scan: \d+ wire bytes, \d+ disk bytes .* of \d+ processes against \d+ secrets: 0 found$/,
    );
  });

  it("is not when something was found, when a file was not scanned, or when it saw nothing", () => {
    writeOutcome(unit, "test/a.test.ts", { ...much, problems: ["wire at 1: key (raw)"] });
    expect(addOutcomes(unit, 1)).toMatchObject({ problems: ["wire at 1: key (raw)"] });
    expect(addOutcomes(unit, 1).line).toMatch(/: 1 found$/);
    writeOutcome(unit, "test/a.test.ts", much);
    expect(addOutcomes(unit, 3).problems).toEqual(["2 of 3 test files were not scanned"]);
    const { tally } = much;
    for (const less of [{ wireBytes: 0 }, { diskBytes: 0 }, { logBytes: 0 }, { processes: 1 }]) {
      writeOutcome(unit, "test/a.test.ts", { ...much, tally: { ...tally, ...less } });
      expect(addOutcomes(unit, 1).problems).toHaveLength(1);
    }
    for (const kind of ["content", "name", "key", "chain-key"]) {
      writeOutcome(unit, "test/a.test.ts", { ...much, tally: { ...tally, secrets: { ...tally.secrets, [kind]: 0 } } });
      expect(addOutcomes(unit, 1).problems, kind).toHaveLength(1);
    }
  });
});
