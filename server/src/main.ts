/** The process: environment → config → server → signals. */
import { ConfigError, parseConfig, renderUsage, type RunningServer, startServer, VERSION } from "./index.ts";

/** BSD sysexits: the configuration is wrong. */
const EX_CONFIG = 78;
const EXIT_FAILURE = 1;
/** 128 + SIGINT, what shells expect of an interrupted program. */
const EXIT_INTERRUPTED = 130;

await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  if (words.includes("--help") || words.includes("-h")) return print(renderUsage());
  if (words.includes("--version")) return print(`${VERSION}\n`);
  if (words.length > 0) return fail(`Unknown argument ${words[0]}\n\n${renderUsage()}`, EX_CONFIG);
  try {
    const server = await startServer(parseConfig(process.env));
    process.stderr.write(`coffer-server listens on ${server.baseUrl}\n`);
    stopOnSignals(server);
  } catch (error) {
    if (error instanceof ConfigError) return fail(`${error.message}\n`, EX_CONFIG);
    return fail(
      `coffer-server could not start: ${error instanceof Error ? error.message : String(error)}\n`,
      EXIT_FAILURE,
    );
  }
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
