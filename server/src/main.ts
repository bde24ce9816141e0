/** The process: environment → config → server or operator's command → exit status. */
import {
  ConfigError,
  findUnread,
  parseConfig,
  renderUsage,
  type RunningServer,
  startServer,
  VERSION,
} from "./index.ts";
import { findCommand, isCommandGroup, renderCommands, UsageError } from "./operator/commands.ts";

/** BSD sysexits: the words on the command line are wrong; the configuration is wrong. */
const EX_USAGE = 64;
const EX_CONFIG = 78;
const EXIT_FAILURE = 1;
/** BSD sysexits, "an error occurred while doing I/O on some file": a flush has failed, and a new process may write again. */
const EX_IOERR = 74;
/** 128 + SIGINT, what shells expect of an interrupted program. */
const EXIT_INTERRUPTED = 130;

await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return print(renderHelp(words));
  if (words.includes("--version")) return print(`${VERSION}\n`);
  try {
    if (words.length > 0) process.exitCode = await runCommand(words);
    else await serve();
  } catch (error) {
    if (error instanceof ConfigError) return fail(`${error.message}\n`, EX_CONFIG);
    if (error instanceof UsageError) return fail(`${error.message}\n`, EX_USAGE);
    const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    const said = error instanceof Error ? error.message : String(error);
    const message = taken ? `${said}. Stop what uses it, or set SERVICE_PORT` : said;
    return fail(`coffer-server could not ${words.length > 0 ? "do that" : "start"}: ${message}\n`, EXIT_FAILURE);
  }
}

async function serve(): Promise<void> {
  const config = parseConfig(process.env);
  const unread = findUnread(process.env);
  if (unread.length > 0)
    process.stderr.write(`coffer-server does not know ${unread.join(", ")}; --help lists its settings\n`);
  const server = await startServer(config);
  process.stderr.write(`coffer-server listens on ${server.baseUrl}\n`);
  stopOnSignals(server);
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

async function runCommand(words: readonly string[]): Promise<number> {
  const found = findCommand(words);
  if (found === null && isCommandGroup(words)) throw new UsageError(renderHelp(words).trimEnd());
  if (found === null) {
    throw new UsageError(
      `Unknown command ${words.join(" ")}. Commands for operators:\n${renderCommands()}--help shows the settings too`,
    );
  }
  const note = (text: string): void => void process.stderr.write(text);
  return found.command.run(parseConfig(process.env), found.options, { out: print, note });
}

function renderHelp(words: readonly string[]): string {
  const named = words.filter((word) => !word.startsWith("-"));
  if (isCommandGroup(named)) return `Usage: coffer-server <command>\n\n${renderCommands(named)}`;
  return `coffer-server: the reference backend of the Coffer service

Usage: coffer-server [--help | --version | <command>]

Without a command, the server starts. Commands for operators:
${renderCommands()}
${renderUsage()}`;
}

/** The first signal lets running requests finish, the second one ends the process at once. */
function stopOnSignals(server: RunningServer): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(EXIT_INTERRUPTED);
    stopping = true;
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`coffer-server could not stop cleanly: ${String(error)}\n`);
        process.exit(EXIT_FAILURE);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

function print(text: string): void {
  process.stdout.write(text);
}

function fail(text: string, code: number): void {
  process.stderr.write(text);
  process.exitCode = code;
}
