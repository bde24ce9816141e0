/** `coffer --help` and `coffer version` beside a Node program with nothing in it. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { measured, median, renderRatios, type Benchmark } from "./outcome.ts";
import { openScratch } from "./service.ts";

const PROGRAM = join(import.meta.dirname, "../packages/cli/dist/main.js");
const ROUNDS = 30;
/** A start may take this much of an empty program, and so many milliseconds. */
const [TIMES, MORE_MS] = [1.3, 40];

export const cliStart: Benchmark = async () => {
  if (!existsSync(PROGRAM)) throw new Error("run npm run build first");
  await using scratch = await openScratch();
  const empty = join(scratch.directory, "empty.mjs");
  await writeFile(empty, "");
  const env = { PATH: process.env["PATH"] ?? "", HOME: scratch.directory };
  const ways = {
    empty: { words: [empty], took: [] as number[] },
    help: { words: [PROGRAM, "--help"], took: [] as number[] },
    version: { words: [PROGRAM, "version"], took: [] as number[] },
  };
  // The first round fills the caches of file system and compiler.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const order = Object.values(ways);
    for (const { words, took } of round % 2 === 0 ? order : order.toReversed()) {
      const began = performance.now();
      const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
      if (status !== 0) throw new Error(`${words.join(" ")} ended with ${String(status)}: ${stderr}`);
      if (round > 0) took.push(performance.now() - began);
    }
  }
  const [base, help, version] = [ways.empty.took, ways.help.took, ways.version.took];
  const limit = { at: "most", value: TIMES * median(base) + MORE_MS } as const;
  return measured({
    ...{ name: "cli-start", about: `a whole run, median of ${String(ROUNDS)} rounds in turns`, unit: "ms" },
    ...{ value: median(version), limit, alsoHeld: { help: { value: median(help), limit } } },
    series: { empty: base, help, version },
    facts: {
      "empty Node program": `${median(base).toFixed(1)} ms`,
      "coffer --help": `${renderRatios(help, base)} of it`,
      "coffer version": `${renderRatios(version, base)} of it`,
    },
  });
};
