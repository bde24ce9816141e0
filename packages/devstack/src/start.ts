/** `npm start`: the stack, the main job once, then up until a signal. */
import { realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runMainJob, type JobReport } from "./main-job.ts";
import { HELP, parseStart, type StartOptions } from "./options.ts";
import { renderDocument, renderTable, shown } from "./report.ts";
import { startStack, type Stack } from "./stack.ts";

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const DEFAULT_PORT = 8787;
const PORTS_TO_TRY = 50;
/** 128 + SIGINT: what shells expect of an interrupted program. */
const EXIT_INTERRUPTED = 130;
const EXIT_USAGE = 2;

/** A sentence for the user instead of a stack trace. */
class StartError extends Error {
  override readonly name = "StartError";
}

const stop = new AbortController();

await main();

async function main(): Promise<void> {
  const parsed = parseStart(process.argv.slice(2), {
    workingDirectory: process.env["INIT_CWD"] ?? process.cwd(),
    repository: REPOSITORY,
  });
  if (parsed.kind === "help") {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  if (parsed.kind === "refuse") {
    fail(`${parsed.sentence}. See npm start -- --help`, EXIT_USAGE);
    return;
  }
  stopOnSignals();
  try {
    process.exitCode = await run(parsed.options);
  } catch (error) {
    if (stop.signal.aborted) fail("stopped before it was ready", EXIT_INTERRUPTED);
    else fail(sentenceOf(error), 1);
  }
}

async function run(options: StartOptions): Promise<number> {
  const folder = await openFolder(options.folder);
  say(`starting the service on ${shown(options.dataDirectory)}`);
  await using stack = await startOnPort(options);
  say(
    `service ready at ${stack.baseUrl}; ${stack.newAccount ? "signed up an account" : "using the account of an earlier run"}`,
  );
  const job = await runMainJob({ stack, folder, signal: stop.signal, say });
  process.stdout.write(options.json ? renderDocument(stack, job) : renderTable(stack, job));
  say(verdict(job));
  if (!options.once) await untilStopped();
  return options.once && !job.ok ? 1 : 0;
}

/** A stack trace only for what nobody foresaw. */
function sentenceOf(error: unknown): string {
  if (error instanceof StartError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function openFolder(given: string): Promise<string> {
  try {
    const folder = await realpath(given);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    throw new StartError(`The folder ${shown(given)} cannot be opened`, { cause: error });
  }
  throw new StartError(`${shown(given)} is not a folder`);
}

/** A port that was asked for is taken or refused; the default one gives way. */
async function startOnPort({ port, dataDirectory }: StartOptions): Promise<Stack> {
  for (let candidate = port ?? DEFAULT_PORT; ; candidate += 1) {
    try {
      return await startStack({ dataDirectory, port: candidate, environment: process.env });
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EADDRINUSE") throw error;
      if (port !== null)
        throw new StartError(`Port ${String(port)} is in use. Choose another with --port, or leave it out`, {
          cause: error,
        });
      if (candidate >= DEFAULT_PORT + PORTS_TO_TRY)
        throw new StartError(`Ports ${String(DEFAULT_PORT)} to ${String(candidate)} are in use`, { cause: error });
      say(`port ${String(candidate)} is in use, trying the next`);
    }
  }
}

function verdict(job: JobReport): string {
  const left = job.skipped.length === 0 ? "" : `, ${String(job.skipped.length)} left out`;
  if (job.ok) return `all ${String(job.files)} files came back byte for byte${left}`;
  return `NOT everything came back: ${String(job.failed.length)} failed${left}`;
}

/** The first signal ends in order, the second at once. */
function stopOnSignals(): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED);
      say("stopping");
      stop.abort();
    });
  }
}

async function untilStopped(): Promise<void> {
  say("up until Ctrl-C");
  if (stop.signal.aborted) return;
  await new Promise((resolve) => {
    stop.signal.addEventListener("abort", resolve, { once: true });
  });
}

function say(line: string): void {
  process.stderr.write(`coffer: ${line}\n`);
}

function fail(sentence: string, code: number): void {
  say(sentence);
  process.exitCode = code;
}
