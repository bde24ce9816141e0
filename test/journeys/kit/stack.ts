/** Starts the stack as a script would: one command, one JSON document on stdout, SIGTERM to stop. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { engineSettings } from "../../kit/engine-settings.ts";
import { sendsInTheClear } from "../../kit/scan/in-the-clear.ts";
import { recordSecret, requireClean } from "../../kit/secret-recorder.ts";

export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** What the main job stores and fetches back before a journey begins: two files. `npm start` without a folder takes all of `docs`. */
const FOLDER = join(REPOSITORY, ".ci");

/** The longest that a start may take here, in milliseconds. */
const START_LIMIT = 240_000;

/** A running stack. Disposing of it stops the process and waits for its end. */
export interface Stack extends AsyncDisposable {
  readonly baseUrl: string;
  /** The key that the stack made for its owner. */
  readonly apiKey: string;
  /** A file in the format of config.json. */
  readonly credentialsFile: string;
  readonly dataDirectory: string;
  /** Everything the stack printed up to now, both streams. */
  printed(): string;
}

/** Starts a stack on its own data. Rejects with what it printed when it does not get ready. */
export async function startStack(options: { readonly dataDirectory: string }): Promise<Stack> {
  await allowDocuments();
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const engines = await engineSettings(options.dataDirectory);
  const child = spawn(process.execPath, startArguments(options.dataDirectory, Object.keys(engines).length > 0), {
    cwd: REPOSITORY,
    env: { ...process.env, ...engines },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collectOutput(child);
  try {
    const document = await readyDocument(child, output);
    const apiKey = keyIn(await readFile(document.credentialsFile, "utf8"));
    recordSecret("apiKey", apiKey);
    return {
      baseUrl: document.baseUrl,
      apiKey,
      credentialsFile: document.credentialsFile,
      dataDirectory: options.dataDirectory,
      printed: () => output.stdout + output.stderr,
      async [Symbol.asyncDispose]() {
        await stopProcess(child);
        await requireClean(options.dataDirectory, output.stdout + output.stderr);
      },
    };
  } catch (thrown) {
    await stopProcess(child);
    throw thrown;
  }
}

/** What the main job encrypts: pages whose words the service's own answers are made of. */
async function allowDocuments(): Promise<void> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const content = await readFile(join(entry.parentPath, entry.name));
    sendsInTheClear(content, "the repository's documents are public, and the service serves what openapi.json says");
  }
}

/** The key of the default profile of a config.json. */
function keyIn(text: string): string {
  const config = parseObject(text);
  const profiles = parseObject(JSON.stringify(config["profiles"]));
  return textOf(parseObject(JSON.stringify(profiles[textOf(config, "defaultProfile")])), "apiKey");
}

/** What `npm start` runs, without npm's own start-up. It has engines of its own, or none: those of the tests need another program. */
function startArguments(dataDirectory: string, hasEngines: boolean): string[] {
  if (hasEngines) return ["--conditions=coffer-source", "test/journeys/kit/engine-stack.ts", dataDirectory];
  const program = "dev/devstack/src/start.ts";
  return ["--conditions=coffer-source", program, "--json", "--port", "0", "--data", dataDirectory, "--folder", FOLDER];
}

interface Output {
  stdout: string;
  stderr: string;
}

/** Gathers what a child prints while it runs. */
export function collectOutput(child: ChildProcess): Output {
  const output: Output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  return output;
}

async function readyDocument(
  child: ChildProcess,
  output: Output,
): Promise<{ readonly baseUrl: string; readonly credentialsFile: string }> {
  const deadline = AbortSignal.timeout(START_LIMIT);
  while (!isDocument(output.stdout)) {
    if (child.exitCode !== null || deadline.aborted) {
      throw new Error(`the stack did not get ready: ${output.stderr.slice(-2000)}${output.stdout.slice(-500)}`);
    }
    await Promise.race([once(child.stdout ?? child, "data"), once(child, "exit"), once(deadline, "abort")]);
  }
  const document = parseObject(output.stdout);
  return { baseUrl: textOf(document, "baseUrl"), credentialsFile: textOf(document, "credentialsFile") };
}

function isDocument(text: string): boolean {
  try {
    parseObject(text);
    return true;
  } catch {
    return false;
  }
}

/** SIGTERM, and SIGKILL when that does not end it within ten seconds. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
}

/** Parses a JSON object or throws. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not a JSON object");
  return Object.fromEntries(Object.entries(value));
}

/** The text at `name` of a parsed object, or throws. */
export function textOf(object: Readonly<Record<string, unknown>>, name: string): string {
  const value = object[name];
  if (typeof value !== "string") throw new TypeError(`${name} is not a string`);
  return value;
}
