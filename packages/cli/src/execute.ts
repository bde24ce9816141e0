/** Runs a parsed command and prints what came of it: exactly one document with `--json`, whatever happens. */
import { LOCAL_FAILURES, untrusted } from "@coffer/tasks/start";
import { createContext, type Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";
import { failureText, reportOf, usage, type FailureReport } from "./failure.ts";
import { globalsOf } from "./globals.ts";
import { argumentWord, flagWord } from "./shell-word.ts";
import { splitVaultPath } from "./vault-path.ts";
import { asInvoked, withProfile } from "./invocation.ts";
import { wasWritten, OutputLost } from "./lost-output.ts";
import { printResult } from "./print.ts";
import type { CommandCall, ParsedLine } from "./line-parser.ts";
import { paintOn } from "./terminal/paint.ts";
import type { World } from "./world.ts";

export async function execute({ command, flags, args }: CommandCall, outerWorld: World): Promise<ExitCode> {
  const globals = globalsOf(flags);
  const world = { ...outerWorld, invocation: withProfile(outerWorld.invocation, globals.profile) };
  const context = createContext(world, globals);
  try {
    if (globals.baseUrl !== undefined && !URL.canParse(globals.baseUrl))
      throw usage(`--base-url is no address: ${globals.baseUrl}`, "pass --base-url https://coffer.example.com");
    return await printResult(await command.run(context, withSwitches(flags, command.flags), args), context);
  } catch (thrown) {
    if (thrown instanceof OutputLost) throw thrown;
    // Its examples begin with its name.
    const group = command.examples[0].line.split(" ")[1];
    const report = reportOf(thrown, { interrupted: world.interrupted, timedOut: context.timedOut, group });
    const described = withCount(await withAddress(withNames(report, { command, flags, args }), context), context);
    await printFailure(described, context, globals.json || globals.jsonLines);
    return report.exit;
  }
}

/** Says which service did not answer where the cause is not known, and that one has to be named where none is. */
async function withAddress(report: FailureReport, context: Context): Promise<FailureReport> {
  const { code, nextStep } = report;
  if (code !== "unreachable" && code !== "signed_out") return report;
  const baseUrl = await addressOf(context);
  if (code === "signed_out")
    return baseUrl === null
      ? { ...report, nextStep: nextStep.replaceAll(/coffer (login|signup)/g, "coffer $1 --base-url URL") }
      : report;
  return baseUrl === null || report.message !== LOCAL_FAILURES.unreachable.message
    ? report
    : { ...report, message: `The service at ${baseUrl} did not answer` };
}

/** The next command with what the line names, in place of VAULT and FILE. */
function withNames(report: FailureReport, { command, flags, args }: CommandCall): FailureReport {
  const declared = "each" in command.args ? [command.args.each] : command.args;
  const argumentNamed = (name: string): string | null => {
    const value = args[declared.findIndex((argument) => argument.name.toUpperCase() === name)];
    return typeof value === "string" ? value : null;
  };
  const { vault: flag } = flags;
  const [first] = args;
  const vault =
    typeof flag === "string"
      ? flag
      : (argumentNamed("VAULT") ?? (typeof first === "string" ? (splitVaultPath(first)?.vault ?? null) : null));
  const file = argumentNamed("FILE");
  const visible = (text: string): string => untrusted(text).visible();
  const ofVault = (text: string): string =>
    vault === null
      ? text
      : text
          .replaceAll(/(--vaults?) VAULT\b/g, (_, name: string) => flagWord(name, visible(vault)))
          .replaceAll(/\bVAULT\b/g, () => argumentWord(visible(vault)));
  const ofFile = (text: string): string => {
    if (file === null) return text;
    const within = typeof flag === "string" ? `${flagWord("--vault", visible(flag))} ` : "";
    return text.replaceAll(/\bFILE\b/g, () => within + argumentWord(visible(file)));
  };
  const nextStep = ofFile(ofVault(report.nextStep));
  return { ...report, nextStep };
}

/** How far a transfer of several files was. */
function withCount(report: FailureReport, { transferCount: { files, totalFiles } }: Context): FailureReport {
  if (totalFiles < 2) return report;
  return { ...report, message: `${report.message}, after ${String(files)} of ${String(totalFiles)} files` };
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
  { sentence, nextStep }: Extract<ParsedLine, { kind: "usage" }>,
  { json, noColor }: { readonly json: boolean; readonly noColor: boolean },
  world: World,
): Promise<ExitCode> {
  const context = createContext(world, globalsOf({ noColor }));
  const report = reportOf(usage(untrusted(sentence).visible(), nextStep), {
    interrupted: world.interrupted,
    timedOut: context.timedOut,
  });
  await printFailure(report, context, json);
  return report.exit;
}

async function printFailure(
  failure: FailureReport,
  { globals, redaction, world }: Context,
  json: boolean,
): Promise<void> {
  const report = { ...failure, nextStep: asInvoked(failure.nextStep, world.invocation) };
  const { code, message, nextStep, retryable, requestId, trace } = report;
  const trail = globals.verbose ? `${requestId === null ? "" : `request: ${requestId}\n`}${trace}\n` : "";
  const error = { code, message, nextStep, retryable, requestId };
  // Where nobody takes the document, the two lines are better than nothing.
  const isPrinted = json && (await wasWritten(world.stdout.write(`${redaction.redact(JSON.stringify({ error }))}\n`)));
  const lines = isPrinted ? "" : failureText(report, paintOn(world.stderr, world.env, globals.noColor));
  if (lines + trail !== "") await world.stderr.write(redaction.redact(lines + trail));
}
