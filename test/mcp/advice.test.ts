/** What a model is told to do next can be done with the tools, the flags of this server and the commands of its user. */
import { printedCommands } from "@coffer/cli/printed-commands";
import { ERRORS } from "@coffer/contract";
import { LOCAL_FAILURES, METHOD_COMMANDS, stepFor, TaskFailure, type FailureCode } from "@coffer/tasks";
import { execFileSync } from "node:child_process";
import { sourceLauncher } from "@coffer/devstack";
import { TOOLS } from "@coffer/mcp";
import { expect, it } from "vitest";

const CODES = [...Object.keys(ERRORS), ...Object.keys(LOCAL_FAILURES)] as FailureCode[];
const TEXTS = new Map<string, string>([
  ...CODES.map((code): [string, string] => [code, new TaskFailure(code).nextStep]),
  ["no code", stepFor("nothing")],
  ...Object.entries(METHOD_COMMANDS).map(([name, { command, tool }]): [string, string] => [name, tool ?? command]),
]);
const ARGUMENTS = new Set(TOOLS.flatMap((tool) => Object.keys(tool.inputSchema(false)["properties"] as object)));
const FACTS = new Set([
  ...TOOLS.flatMap((tool) => Object.keys(tool.outputSchema["properties"] as object)),
  ...["requestId", "nextStep", "isError"],
]);
const { command, args } = sourceLauncher();
const HELP = execFileSync(command, [...args, "--help"], { encoding: "utf8" });

it("each next step of a failure names tools, arguments, flags and commands that exist [issue 48]", async () => {
  const names = new Set(TOOLS.map(({ name }) => name));
  for (const [code, step] of TEXTS) {
    // The words of other surfaces: methods of the SDK, parts of HTTP.
    expect([code, step]).toEqual([code, expect.not.stringMatching(OF_OTHERS)]);
    for (const [word] of step.matchAll(/\b[a-z]+(?:_[a-z]+)+\b/g))
      expect([code, names.has(word)]).toEqual([code, true]);
    for (const [word] of step.matchAll(/\b[a-z]+[A-Z][A-Za-z]*\b/g))
      expect([code, word, ARGUMENTS.has(word) || FACTS.has(word)]).toEqual([code, word, true]);
    const commands = await printedCommands(step);
    expect([code, commands.filter(({ problem }) => problem !== null)]).toEqual([code, []]);
    // The other flags are the tool server's own.
    const rest = commands.reduce((text, { line }) => text.replace(line, ""), step);
    for (const [flag] of rest.matchAll(/--[a-z-]+/g))
      expect([code, HELP]).toEqual([code, expect.stringContaining(flag)]);
  }
});

const OF_OTHERS =
  /\b(?:vaults|files|folders|client|members)\.[a-z]|`|Retry-After|X-Request-Id|Idempotency-Key|Content-Range|Coffer-Proof|\bAllow\b|\bHEAD\b|Tus-|force=/;
