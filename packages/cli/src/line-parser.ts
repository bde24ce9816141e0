/** Reads a command line: which command it means, and with which values. Runs nothing. */
import { ExitCode as Framework, run, type ApplicationContext } from "@stricli/core";
import { buildApp, type Handler } from "./application.ts";
import type { Command, Routes } from "./declarations.ts";
import { helpPage } from "./help-page.ts";
import { VERSION } from "./version.ts";
import { findRoute, type RoutedLine } from "./find-route.ts";

export interface CommandCall {
  readonly command: Command;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly args: readonly unknown[];
}

/** What a line came to before a command ran. */
export type ParsedLine =
  | { readonly kind: "command"; readonly call: CommandCall }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "usage"; readonly sentence: string; readonly nextStep: string };

/** Reads a line without running it. */
export async function parseLine(routes: Routes, typed: readonly string[]): Promise<ParsedLine> {
  const line = await findRoute(routes, typed);
  if (line.group !== null && line.group.length > 0) return groupAlone(line.group);
  const calls: CommandCall[] = [];
  const handler: Handler = async (command, flags, args) => void calls.push({ command, flags, args });
  const [out, err] = [textSink(), textSink()];
  const framework: ApplicationContext = { process: { stdout: out, stderr: err, env: {} } };
  const words = line.group === null ? line.words : ["--help"];
  await run(buildApp(routes, line.routed, handler), words, framework);
  const [parsed] = calls;
  if (parsed !== undefined) return { kind: "command", call: parsed };
  if (framework.process.exitCode === Framework.Success) {
    const printed = out.text();
    return { kind: "help", text: printed === `${VERSION}\n` ? printed : helpPage(routes, line.path, line.routed) };
  }
  return { kind: "usage", sentence: oneLine(err.text()), nextStep: helpOf(line) };
}

const groupAlone = (path: readonly string[]): ParsedLine => ({
  kind: "usage",
  sentence: `"coffer ${path.join(" ")}" is a group: name one of its commands`,
  nextStep: `coffer ${path.join(" ")} --help`,
});

const helpOf = ({ path }: RoutedLine): string => ["coffer", ...path, "--help"].join(" ");

function textSink(): { write(text: string): void; text(): string } {
  const parts: string[] = [];
  return { write: (text) => void parts.push(text), text: () => parts.join("") };
}

/** The framework's sentences, in one line and without a full stop. */
const oneLine = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s*\n\s*/g, "; ")
    .replace(/\.$/, "");
