// `npm run example -- NAME` runs a program of examples/ against the stack of `npm start`, or against one of its own when none runs.
// Without a name it lists them. Each program keeps its state in a folder of its own, so a copy of it writes nothing to the home directory.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { startStack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";
import { accessCode } from "./access-code.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const EXAMPLES = path.join(ROOT, "examples");
const USUAL = path.join(ROOT, ".coffer", "credentials.json");
const EXIT_USAGE = 2;

const [name, ...more] = process.argv.slice(2);
const known = (await readdir(EXAMPLES))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => path.basename(file, ".ts"));
if (name === undefined || more.length > 0 || !known.includes(name)) await list();
else await run(name);

async function list(): Promise<void> {
  if (name !== undefined) console.error(`There is no example "${[name, ...more].join(" ")}".\n`);
  console.log("npm run example -- NAME\n");
  for (const each of known.toSorted()) console.log(`  ${each.padEnd(26)}${await firstSentence(each)}`);
  process.exitCode = name === undefined ? 0 : EXIT_USAGE;
}

/** What the program's own comment says first. */
async function firstSentence(example: string): Promise<string> {
  const [comment = ""] = /\/\*\*[\s\S]*?\*\//.exec(await readFile(fileOf(example), "utf8")) ?? [];
  const text = comment.replaceAll(/^\s*\/?\*+\/?/gm, "").replaceAll(/\s+/g, " ");
  return (/^.*?[.](?= )/.exec(text)?.[0] ?? text).trim();
}

async function run(example: string): Promise<void> {
  await using service = await findService();
  console.error(`example: ${example} on ${service.what}`);
  const needsCode = (await readFile(fileOf(example), "utf8")).includes("ACCESS_CODE");
  if (needsCode && service.dataDirectory !== null)
    process.env["ACCESS_CODE"] ??= await accessCode(service.dataDirectory);
  await import(pathToFileURL(fileOf(example)).href);
}

function fileOf(example: string): string {
  return path.join(EXAMPLES, `${example}.ts`);
}

interface Service extends AsyncDisposable {
  /** For people. */
  readonly what: string;
  /** null: it is not known to be a stack of this machine. */
  readonly dataDirectory: string | null;
}

/** The service that the environment names, else the stack of `npm start`, else one that ends with this program. */
async function findService(): Promise<Service> {
  const { SERVICE_BASE_URL, SERVICE_API_KEY, SERVICE_CONFIG_FILE } = process.env;
  const named = SERVICE_CONFIG_FILE !== undefined || (SERVICE_BASE_URL !== undefined && SERVICE_API_KEY !== undefined);
  const close = (): Promise<void> => Promise.resolve();
  if (!named && (await isRunning())) {
    useStack(USUAL);
  } else if (!named) {
    const stack = await startStack();
    useStack(stack.credentialsFile);
    const { baseUrl, dataDirectory } = stack;
    return { what: `a stack of its own at ${baseUrl}`, dataDirectory, [Symbol.asyncDispose]: () => stack.close() };
  }
  const { baseUrl, configFile } = await resolveSettings();
  const directory = path.dirname(configFile);
  const isStack =
    existsSync(path.join(directory, "network.json")) && existsSync(path.join(directory, "credentials.json"));
  return {
    what: `the service at ${baseUrl ?? "no address"}`,
    dataDirectory: isStack ? directory : null,
    [Symbol.asyncDispose]: close,
  };
}

/** What the shell says of a service, of its network or of a profile is about another configuration, or about a stack that has ended. */
function useStack(credentialsFile: string): void {
  for (const name of ["SERVICE_BASE_URL", "SERVICE_NETWORK_FILE", "SERVICE_PROFILE"])
    Reflect.deleteProperty(process.env, name);
  process.env["SERVICE_CONFIG_FILE"] = credentialsFile;
}

/** Whether the stack of `npm start` answers, and still takes its key. */
async function isRunning(): Promise<boolean> {
  if (!existsSync(USUAL)) return false;
  try {
    const { baseUrl, apiKey } = await resolveSettings({ SERVICE_CONFIG_FILE: USUAL });
    if (baseUrl === null || apiKey === null) return false;
    await createClient({ baseUrl, credentials: apiKey, retry: { limit: 0 } }).account.get();
    return true;
  } catch {
    return false;
  }
}
