/** Runs a parsed command and prints what came of it: exactly one document with `--json`, whatever happens. */
import { untrusted } from "@coffer/tasks/start";
import { createContext, type Context } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { reportOf, usage, type FailureReport } from "./failure.ts";
import { globalsOf } from "./globals.ts";
import { printResult } from "./print.ts";
import type { Parsed, Reading } from "./reading.ts";
import { paintOn } from "./terminal/paint.ts";
import type { World } from "./world.ts";

export async function execute({ command, flags, args }: Parsed, world: World): Promise<ExitCode> {
  const globals = globalsOf(flags);
  const context = createContext(world, globals);
  try {
    if (globals.baseUrl !== undefined && !URL.canParse(globals.baseUrl))
      throw usage(`--base-url is no address: ${globals.baseUrl}`, "pass --base-url https://coffer.example.com");
    return await printResult(await command.run(context, withSwitches(flags, command.flags), args), context);
  } catch (thrown) {
    // Its examples begin with its name.
    const group = command.examples[0].line.split(" ")[1];
    const report = reportOf(thrown, { interrupted: world.interrupted, timedOut: context.timedOut, group });
    const baseUrl = report.code === "unreachable" ? await addressOf(context) : null;
    const told = baseUrl === null ? report : { ...report, message: `The service at ${baseUrl} did not answer` };
    await printFailure(told, context, globals.json || globals.jsonLines);
    return report.exit;
  }
}

async function addressOf({ settings }: Context): Promise<string | null> {
  try {
    return (await settings()).baseUrl;
  } catch {
    return null;
  }
}

/** A switch that is not there is off. */
const withSwitches = (
  values: Readonly<Record<string, unknown>>,
  declared: Readonly<Record<string, { readonly kind: string }>>,
): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    Object.entries(declared).flatMap(([name, { kind }]) => (kind === "switch" ? [[name, false]] : [])),
  ),
  ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
});

/** A line that could not be parsed. */
export async function refuse(
  { sentence, nextStep }: Extract<Reading, { kind: "usage" }>,
  { json, noColor }: { readonly json: boolean; readonly noColor: boolean },
  world: World,
): Promise<ExitCode> {
  const context = createContext(world, globalsOf({ noColor }));
  const report = reportOf(usage(untrusted(sentence).visible(), nextStep), {
    interrupted: world.interrupted,
    timedOut: context.timedOut,
  });
  await printFailure(report, context, json);
  return EXIT.usage;
}

async function printFailure(
  report: FailureReport,
  { globals, redaction, world }: Context,
  json: boolean,
): Promise<void> {
  const { code, message, nextStep, retryable, requestId, trace } = report;
  const trail = globals.verbose ? `${requestId === null ? "" : `request: ${requestId}\n`}${trace}\n` : "";
  if (json) {
    const error = { code, message, nextStep, retryable, requestId };
    await world.stdout.write(`${redaction.redact(JSON.stringify({ error }))}\n`);
    if (trail !== "") await world.stderr.write(redaction.redact(trail));
    return;
  }
  const paint = paintOn(world.stderr, world.env, globals.noColor);
  const lines = `${paint("red", "error:")} ${sentence(message)}\n${paint("bold", "next:")} ${nextStep}\n${trail}`;
  await world.stderr.write(redaction.redact(lines));
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
