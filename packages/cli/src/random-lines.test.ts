/** Thousands of drawn command lines: each ends with a code that means something, and nothing is left unhandled. */
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDraw, type Draw } from "../../../test/fuzz/draw.ts";
import { coffer } from "../../../test/kit/coffer.ts";
import { runProgram } from "../../../test/kit/coffer-program.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { EXIT } from "./exit-codes.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { ROUTES } from "./routes.ts";
import { listCommands, type ListedCommand } from "./command-list.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** What everybody runs does not depend on the moment. */
const SEED = Number(process.env["COFFER_LINES_SEED"] ?? (FULL ? Date.now() % 1_000_000 : 1));
const [IN_PROCESS, SPAWNED] = FULL ? [5_000, 200] : [1_000, 30];
const places = await listCommands(ROUTES);
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

/** No address of a service is among them: nothing is sent. */
const WORDS = [
  ...[
    "",
    "-",
    "--",
    "-x",
    "a",
    "Team",
    "Team:a/b.txt",
    "../..",
    "nothing.txt",
    "0",
    "-1",
    "1e9",
    "NaN",
    "2027-01-08",
    "*",
  ],
  ...[
    "0b0e7a1c-2f7d-4a37-9d0a-0d4f5b6c7d8e",
    "0xabc",
    "files:read",
    "ftp://x",
    "cofi_a.b",
    "true",
    "\u202e\u0007",
    "é".repeat(400),
  ],
] as const;

function drawLine({ chance, int, pick, any }: Draw): string[] {
  const place = any(places) as ListedCommand;
  const path = chance(0.05) ? place.path.slice(0, -1) : chance(0.05) ? [...place.path, "more"] : [...place.path];
  const own = { ...place.command.flags, ...GLOBAL_FLAGS, ...LIST_FLAGS };
  const words = Array.from({ length: int(6) }, (): string[] => {
    if (chance(0.4)) return [pick(WORDS)];
    const [name, flag] = any(Object.entries(own)) ?? ["json", GLOBAL_FLAGS.json];
    const text = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    // It would go on until somebody stops it.
    if (name === "follow") return [];
    return flag.kind === "switch" && chance(0.9)
      ? [text]
      : chance(0.3)
        ? [`${text}=${pick(WORDS)}`]
        : [text, pick(WORDS)];
  }).flat();
  const mixed = chance(0.1) ? [...words, ...path] : [...path, ...words];
  return chance(0.3) ? [...mixed, "--json"] : mixed;
}

const CODES = new Set<number>(Object.values(EXIT));

function check(words: readonly string[], { code, out, err }: { code: number; out: string; err: string }): void {
  const line = JSON.stringify({ seed: SEED, words, code, out: out.slice(0, 300), err: err.slice(0, 300) });
  expect(CODES.has(code), line).toBe(true);
  const end = words.indexOf("--");
  const flags = words.slice(0, end === -1 ? undefined : end);
  if (!flags.some((word) => word.startsWith("--verbose"))) expect(/^\s+at .*:\d+/m.test(out + err), line).toBe(false);
  // Findings of doctor are a result.
  if (code !== 0 && out === "" && !flags.some((word) => word.startsWith("--json")))
    expect(stripVTControlCharacters(err), line).toMatch(/^error: .*\nnext: .*\n/m);
  // A word after a flag that takes one may be its value.
  if (words.at(-1) !== "--json" || words.includes("--json-lines") || words.at(-2)?.startsWith("-") === true) return;
  if (end === -1 && out !== "") expect(() => JSON.parse(out) as unknown, line).not.toThrow();
}

/** `coffer` of the kit reads each command that is printed. */
it.each([
  [["download", "--ciphertext", "--profile=--", "*"]],
  [["ls", "--profile=-p"]],
  [["cat", "--", "-x"]],
  [["stat", "--vault=-v", "--", "-x"]],
  [["upload", "--", "-v:x"]],
  [["download", "--", "-x", "-"]],
  [["vaults", "get", "--", "-v"]],
])("words that begin with a dash leave next steps that can be pasted: %j", async (words) => {
  const { code, err } = await coffer(words, makeDirectory());
  expect(code).toBeGreaterThan(0);
  expect(err).toContain("next: ");
});

describe("drawn command lines [issue 19]", () => {
  it(`${String(IN_PROCESS)} in this process`, async () => {
    const home = makeDirectory();
    const draw = openDraw(SEED);
    for (let at = 0; at < IN_PROCESS; at += 1) {
      const words = drawLine(draw);
      const stop = new AbortController();
      const guard = setTimeout(() => stop.abort(), 20_000);
      const ran = await coffer(words, home, {
        interrupted: stop.signal,
        ...(draw.chance(0.2) ? { answers: ["y", "x"] } : {}),
      });
      clearTimeout(guard);
      expect(stop.signal.aborted, `hangs: ${JSON.stringify(words)}`).toBe(false);
      check(words, ran);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(unhandled).toEqual([]);
  });

  it(`${String(SPAWNED)} as a program`, async () => {
    const home = makeDirectory();
    const draw = openDraw(SEED + 1);
    const lines = Array.from({ length: SPAWNED }, () => drawLine(draw)).filter(
      (words) => !words.includes("dev") && !(words.includes("mcp") && words.includes("serve")),
    );
    const run = async (): Promise<void> => {
      for (let words = lines.pop(); words !== undefined; words = lines.pop())
        check(
          words,
          await runProgram(words, {
            env: { HOME: home, SERVICE_CONFIG_DIR: join(home, "c") },
            cwd: home,
          }),
        );
    };
    await Promise.all([run(), run()]);
  });
});
