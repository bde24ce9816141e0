import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileCallRecord, verifyCallRecord } from "./call-record.ts";

let parent: string;
let directory: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "coffer-record-"));
  directory = join(parent, "audit");
});

afterEach(async () => {
  await rm(parent, { recursive: true });
});

const recordAt = (month: string) =>
  new FileCallRecord(
    () => Promise.resolve(directory),
    () => new Date(`2026-${month}-05T10:00:00Z`),
  );
const facts = { tool: "file_read", args: { file: "a" }, result: "ok", bytes: 3, agreed: null, key: null } as const;

/** Two processes, the second over the turn of a month. */
async function fill(): Promise<void> {
  const first = recordAt("10");
  await Promise.all(Array.from({ length: 5 }, () => first.add(facts)));
  const second = recordAt("11");
  for (let each = 0; each < 4; each += 1) await second.add({ ...facts, args: { each } });
}

async function change(name: string, edit: (lines: string[]) => string[]): Promise<void> {
  const file = join(directory, name);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  await writeFile(file, `${edit(lines).join("\n")}\n`);
}

describe("the record of calls", () => {
  it("is whole: two chains in two files, for the owner alone", async () => {
    await fill();
    expect(await verifyCallRecord(directory)).toEqual({ lines: 9, chains: 2, problems: [] });
    expect(await readdir(directory)).toEqual(["mcp-2026-10.jsonl", "mcp-2026-11.jsonl"]);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, "mcp-2026-10.jsonl"))).mode & 0o777).toBe(0o600);
    expect(await verifyCallRecord(join(parent, "nowhere"))).toEqual({ lines: 0, chains: 0, problems: [] });
  });

  it("every changed bit shows", async () => {
    await fill();
    const file = join(directory, "mcp-2026-10.jsonl");
    const whole = await readFile(file);
    for (let at = 0; at < whole.length - 1; at += 7) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(file, changed);
      expect([at, (await verifyCallRecord(directory)).problems.length > 0]).toEqual([at, true]);
    }
  });

  it.each([
    ["a line in the middle", "mcp-2026-10.jsonl", (lines: string[]) => lines.toSpliced(2, 1), 1],
    ["the first line", "mcp-2026-10.jsonl", (lines: string[]) => lines.slice(1), 2],
    [
      "the last line of a process, which the next one names",
      "mcp-2026-10.jsonl",
      (lines: string[]) => lines.slice(0, -1),
      1,
    ],
    ["two lines exchanged", "mcp-2026-11.jsonl", ([a, b, ...rest]: string[]) => [b ?? "", a ?? "", ...rest], 1],
  ])("shows what was taken or moved: %s", async (_, name, edit, problems) => {
    await fill();
    await change(name, edit);
    expect((await verifyCallRecord(directory)).problems.length).toBeGreaterThanOrEqual(problems);
  });
});
