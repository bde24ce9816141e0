/** One command line: read, run and answered. Never rejects. */
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { endWithout, OutputLost, withSafeOutput } from "./lost-output.ts";
import { readLine } from "./line-parser.ts";
import { ROUTES } from "./routes.ts";
import type { World } from "./world.ts";

export async function runCoffer(words: readonly string[], given: World): Promise<ExitCode> {
  const world = withSafeOutput(given);
  try {
    return await runLine(words, world);
  } catch (thrown) {
    if (thrown instanceof OutputLost) return await endWithout(thrown, world);
    throw thrown;
  }
}

async function runLine(words: readonly string[], world: World): Promise<ExitCode> {
  if (words[0] === "__complete") {
    const { complete } = await import("./completion/propose.ts");
    return await complete(ROUTES, words.slice(1), world);
  }
  const reading = await readLine(ROUTES, words);
  if (reading.kind === "help") {
    await world.stdout.write(isJson(words) ? `${JSON.stringify({ help: reading.text })}\n` : reading.text);
    return EXIT.done;
  }
  const { execute, refuse } = await import("./execute.ts");
  if (reading.kind === "usage")
    return await refuse(reading, { json: isJson(words), noColor: words.includes("--no-color") }, world);
  return await execute(reading.parsed, world);
}

/** The line was not parsed: `--json` counts anywhere in it. */
function isJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end === -1 ? undefined : end).some((word) => word === "--json" || word === "--json-lines");
}
