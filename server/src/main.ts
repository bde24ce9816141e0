#!/usr/bin/env -S node --conditions=coffer-source
/** The process: environment → config → server or operator's command → exit status. */
import { statSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import {
  type CloseOptions,
  type Config,
  ConfigError,
  describeBuild,
  findUnread,
  OutdatedServerError,
  type Environment,
  parseConfig,
  readEnvFile,
  renderUsage,
  type RunningServer,
  startServer,
} from "./index.ts";
import { findCommand, isCommandGroup, renderCommands, UsageError } from "./operator/commands.ts";

/** BSD sysexits: the words on the command line are wrong; the configuration is wrong. A restart mends nothing. */
const EX_USAGE = 64;
const EX_CONFIG = 78;
/** The database needs a newer server. Nor does a restart of this one mend that. */
const EX_PROTOCOL = 76;
const EXIT_FAILURE = 1;
/** BSD sysexits, "an error occurred while doing I/O on some file": a flush has failed, and a new process may write again. */
const EX_IOERR = 74;
/** 128 + SIGINT, what shells expect of an interrupted program. */
const EXIT_INTERRUPTED = 130;

await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return print(renderHelp(words));
  if (words.includes("--version")) return print(`${describeBuild()}\n`);
  try {
    const settings = readSettings(words);
    const { rest } = settings;
    if (rest.length > 0 && rest.join(" ") !== "serve") process.exitCode = await runCommand(rest, settings);
    else await serve(settings.environment);
  } catch (error) {
    if (error instanceof ConfigError) return fail(`${error.message}\n`, EX_CONFIG);
    if (error instanceof UsageError) return fail(`${error.message}\n`, EX_USAGE);
    const isOutdated = error instanceof OutdatedServerError;
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const said = error instanceof Error ? error.message : String(error);
    const message = taken ? `${said}. Stop what uses it, or set SERVICE_PORT` : said;
    const status = isOutdated ? EX_PROTOCOL : EXIT_FAILURE;
    return fail(`coffer-server could not ${words.length > 0 ? "do that" : "start"}: ${message}\n`, status);
  }
}

interface GivenSettings {
  readonly environment: Environment;
  readonly envFile: string | null;
  /** The words behind. */
  readonly rest: readonly string[];
}

/** The settings that `--env-file` names, and those of the environment, which win. */
function readSettings(words: readonly string[]): GivenSettings {
  const [first = "", ...others] = words;
  const [, joined] = /^--env-file(?:=(.*))?$/s.exec(first) ?? [];
  if (!first.startsWith("--env-file")) return { environment: process.env, envFile: null, rest: words };
  const file = joined ?? others.shift();
  if (file === undefined || file === "") throw new UsageError("--env-file: name the file with the server's settings");
  const { values, warning } = readEnvFile(file);
  if (warning !== null) process.stderr.write(`${warning}\n`);
  return { environment: { ...values, ...process.env }, envFile: file, rest: others };
}

async function serve(environment: Environment): Promise<void> {
  process.on("SIGHUP", stayOnHangUp);
  const config = parseConfig(environment);
  const unread = findUnread(environment);
  if (unread.length > 0)
    process.stderr.write(`coffer-server does not know ${unread.join(", ")}; --help lists its settings\n`);
  const server = await startServer(config);
  process.stderr.write(`coffer-server listens on ${server.baseUrl}\n`);
  stopWhenAsked(server);
  void endOnceLost(server);
}

/** systemd, Kubernetes and Compose start another process. */
async function endOnceLost(server: RunningServer): Promise<void> {
  await server.lost;
  process.stderr.write("coffer-server ends: a flush to the disk failed, and only another process can write again\n");
  await server.close().catch((error: unknown) => {
    process.stderr.write(`coffer-server could not stop cleanly: ${String(error)}\n`);
  });
  process.exit(EX_IOERR);
}

async function runCommand(
  words: readonly string[],
  { environment, envFile }: Pick<GivenSettings, "environment" | "envFile">,
): Promise<number> {
  const found = findCommand(words);
  if (found === null && isCommandGroup(words)) throw new UsageError(renderHelp(words).trimEnd());
  if (found === null) {
    throw new UsageError(
      `Unknown command ${words.join(" ")}. Commands for operators:\n${renderCommands()}--help shows the settings too`,
    );
  }
  const note = (text: string): void => void process.stderr.write(text);
  const config = parseConfig(environment);
  if (found.command.changesSettings !== true) refuseRoot(config);
  return found.command.run(config, found.options, { out: print, note, ask, serveTrial, envFile });
}

/** What root writes into the data directory of another user stops the server, which cannot read it. */
function refuseRoot({ dataDirectory }: Config): void {
  if (process.getuid?.() !== 0) return;
  const owner = statSync(dataDirectory, { throwIfNoEntry: false })?.uid ?? 0;
  if (owner === 0) return;
  throw new UsageError(
    `${dataDirectory} belongs to user ${String(owner)}: run commands as that user, such as runuser -u coffer -- coffer-server …`,
  );
}

/** Until SIGINT or SIGTERM. */
async function serveTrial(config: Config): Promise<number> {
  const server = await startServer(config, { trial: true });
  process.stderr.write(
    `coffer-server tries out the backup on ${server.baseUrl}, with the keys of then: reads only, nothing is sent. Ctrl-C ends it\n`,
  );
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(undefined));
  await promise;
  await server.close();
  return 0;
}

async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

function renderHelp(words: readonly string[]): string {
  const named = words.filter((word) => !word.startsWith("-"));
  if (isCommandGroup(named)) return `Usage: coffer-server <command>\n\n${renderCommands(named)}`;
  return `coffer-server: the reference backend of the Coffer service

Usage: coffer-server [--env-file <file>] [--help | --version | serve | <command>]

The word serve, or no command, starts the server. --env-file names a file with its settings, such as /etc/coffer/server.env; what the environment sets
as well counts as the environment has it. Commands for operators:
${renderCommands()}
${renderUsage()}`;
}

/** The first signal lets running requests finish, the second one ends the process at once. */
function stopWhenAsked(server: RunningServer): void {
  const end = (status: number, options: CloseOptions): void => {
    server.close(options).then(
      () => process.exit(status),
      (error: unknown) => {
        process.stderr.write(`coffer-server could not stop cleanly: ${String(error)}\n`);
        process.exit(EXIT_FAILURE);
      },
    );
  };
  let isAsked = false;
  const stop = (options: CloseOptions): void => {
    if (isAsked) process.exit(EXIT_INTERRUPTED);
    isAsked = true;
    end(0, options);
  };
  process.on("SIGTERM", () => stop({ notice: true }));
  process.on("SIGINT", () => stop({}));
  // A server that outlives its terminal would keep the port.
  if (process.stderr.isTTY) process.off("SIGHUP", stayOnHangUp).on("SIGHUP", () => stop({}));
  void server.outdated.then(() => end(EX_PROTOCOL, { notice: true }));
}

/** Others read their settings again then. It must not end the process, which is what Node does by itself. */
function stayOnHangUp(): void {
  process.stderr.write("coffer-server reads its settings when it starts: SIGHUP changes nothing, restart it\n");
}

function print(text: string): void {
  process.stdout.write(text);
}

function fail(text: string, code: number): void {
  process.stderr.write(text);
  process.exitCode = code;
}
