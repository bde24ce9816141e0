/** One command line: parsed, run and reported. Never rejects. */
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { endWithLostOutput, OutputLost, withSafeOutput } from "./lost-output.ts";
import { parseLine } from "./line-parser.ts";
import { ROUTES } from "./routes.ts";
import type { World } from "./world.ts";

export async function runCoffer(words: readonly string[], outerWorld: World): Promise<ExitCode> {
  const world = withSafeOutput(outerWorld);
  try {
    return await runLine(words, world);
  } catch (thrown) {
    if (thrown instanceof OutputLost) return await endWithLostOutput(thrown, world);
    throw thrown;
  }
}

async function runLine(words: readonly string[], world: World): Promise<ExitCode> {
  if (words[0] === "__complete") {
    const { complete } = await import("./completion/propose.ts");
    return await complete(ROUTES, words.slice(1), world);
  }
  const parsed = await parseLine(ROUTES, words);
  if (parsed.kind === "help") {
    await world.stdout.write(isJson(words) ? `${JSON.stringify({ help: parsed.text })}\n` : parsed.text);
    return EXIT.done;
  }
  const { execute, refuse } = await import("./execute.ts");
  if (parsed.kind === "usage")
    return await refuse(parsed, { json: isJson(words), noColor: words.includes("--no-color") }, world);
  return await execute(parsed.call, world);
}

/** The line was not parsed: `--json` counts anywhere in it. */
function isJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? undefined : end).some((word) => word === "--json" || word === "--json-lines");
}
