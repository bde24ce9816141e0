/** What a model is told to do next can be done with the tools, the flags of this server and the commands of its user. */
import { ERRORS } from "@coffer/contract";
import { LOCAL_FAILURES, METHOD_WORDS, stepFor, TaskFailure, type FailureCode } from "@coffer/tasks";
import { execFileSync } from "node:child_process";
import { sourceLauncher } from "@coffer/devstack";
import { TOOLS } from "@coffer/mcp";
import { expect, it } from "vitest";
import { coffer } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";

const CODES = [...Object.keys(ERRORS), ...Object.keys(LOCAL_FAILURES)] as FailureCode[];
const TEXTS = new Map<string, string>([
  ...CODES.map((code): [string, string] => [code, new TaskFailure(code).nextStep]),
  ["no code", stepFor("nothing")],
  ...Object.entries(METHOD_WORDS).map(([name, { command, tool }]): [string, string] => [name, tool ?? command]),
]);
const ARGUMENTS = new Set(TOOLS.flatMap((tool) => Object.keys(tool.inputSchema(false)["properties"] as object)));
const FACTS = new Set([
  ...TOOLS.flatMap((tool) => Object.keys(tool.outputSchema["properties"] as object)),
  ...["requestId", "nextStep", "isError"],
]);
const { command, args } = sourceLauncher();
const HELP = execFileSync(command, [...args, "--help"], { encoding: "utf8" });

/** A command of these words, or of the first of them, has a help page. */
async function isCommand(words: readonly string[]): Promise<boolean> {
  const home = makeDirectory();
  for (let count = Math.min(words.length, 3); count > 0; count -= 1)
    if ((await coffer([...words.slice(0, count), "--help"], home)).code === 0) return true;
  return false;
}

it("each next step of a failure names tools, arguments, flags and commands that exist [issue 48]", async () => {
  const names = new Set(TOOLS.map(({ name }) => name));
  for (const [code, step] of TEXTS) {
    // The words of other surfaces: methods of the SDK, parts of HTTP.
    expect([code, step]).toEqual([code, expect.not.stringMatching(OF_OTHERS)]);
    for (const [word] of step.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g))
      expect([code, names.has(word)]).toEqual([code, true]);
    for (const [word] of step.matchAll(/\b[a-z]+[A-Z][A-Za-z]*\b/g))
      expect([code, word, ARGUMENTS.has(word) || FACTS.has(word)]).toEqual([code, word, true]);
    for (const [flag] of step.matchAll(/--[a-z-]+/g))
      expect([code, HELP]).toEqual([code, expect.stringContaining(flag)]);
    for (const [, line = ""] of step.matchAll(/\bcoffer ((?:[a-z-]+ ?)+)/g)) {
      const words = line.trim().split(" ");
      expect([code, line, await isCommand(words.filter((word) => !word.startsWith("-")))]).toEqual([code, line, true]);
    }
  }
});

const OF_OTHERS =
  /\b(?:vaults|files|folders|client|members)\.[a-z]|`|Retry-After|X-Request-Id|Idempotency-Key|Content-Range|Coffer-Proof|\bAllow\b|\bHEAD\b|Tus-|force=/;
