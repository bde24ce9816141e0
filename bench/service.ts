/** Our server as it runs in production, with an account to use. */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { productionSecrets } from "../test/acceptance/kit/production.ts";
import { stopChild } from "./machine.ts";

const MAIN = new URL("../server/src/main.ts", import.meta.url).pathname;

export interface Service extends AsyncDisposable {
  readonly baseUrl: string;
  readonly pid: number;
  readonly databasePath: string;
  /** Of each account, with all rights. */
  readonly keys: readonly string[];
  /** Of the first account, with the scope files:read alone. */
  readonly readKey: string;
  /** One more process of the same service, on the same data. */
  startAnother(): Promise<AsyncDisposable & { readonly baseUrl: string; readonly pid: number }>;
}

/**
 * The limit of credentials, in requests a minute and at once: it counts and answers as in production, and no benchmark gets
 * that far. Said in the outcome of the benchmarks that it bears on.
 */
export const RATE = 100_000_000;

/** A directory that vanishes at the end. */
export async function openScratch(): Promise<AsyncDisposable & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), "coffer-bench-"));
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }) };
}

/**
 * Makes accounts in development mode, then starts the server in production mode with its default log, written to a file. `settings`: more
 * `SERVICE_…` variables.
 */
export async function startService(
  directory: string,
  accounts = 1,
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const data = join(directory, "data");
  const keys: string[] = [];
  let readKey: string;
  const first = await launch(directory, { ...settings, SERVICE_ENV: "development", SERVICE_DATA_DIR: data });
  try {
    for (let at = 0; at < accounts; at += 1) keys.push(await signUp(first.baseUrl, `bench-${String(at)}@example.com`));
    readKey = await makeReadKey(first.baseUrl, keys[0] ?? "");
  } finally {
    await stopChild(first.child);
  }
  const databasePath = join(data, "coffer.sqlite");
  forgetMode(databasePath);
  const rates = { SERVICE_RATE_GENERAL: String(RATE), SERVICE_RATE_GENERAL_BURST: String(RATE) };
  const production = {
    ...settings,
    SERVICE_ENV: "production",
    ...productionSecrets(),
    ...rates,
    SERVICE_DATA_DIR: data,
  };
  const startOne = async (isFirst: boolean) => {
    const { baseUrl, child } = await launch(directory, production, isFirst);
    return { baseUrl, pid: child.pid ?? 0, [Symbol.asyncDispose]: () => stopChild(child) };
  };
  return { ...(await startOne(true)), keys, readKey, databasePath, startAnother: () => startOne(false) };
}

/** No production server starts on data of development, and these were made so because that is quick. */
function forgetMode(databasePath: string): void {
  using database = new DatabaseSync(databasePath);
  database.exec("delete from database_origin");
}

async function signUp(baseUrl: string, email: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${baseUrl}/api/auth/dev-signup`, {
    method: "POST",
    headers,
    body: JSON.stringify({ email }),
  });
  if (answer.status !== 200) throw new Error(`dev-signup answered ${String(answer.status)}`);
  return ((await answer.json()) as { apiKey: string }).apiKey;
}

async function makeReadKey(baseUrl: string, key: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/auth/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "reader", scopes: ["files:read"] }),
  });
  if (answer.status !== 201) throw new Error(`api-keys answered ${String(answer.status)}`);
  return ((await answer.json()) as { key: string }).key;
}

/** Stores a small file and answers its id. */
export async function storeFile({ baseUrl, keys }: Service, name: string): Promise<string> {
  const headers = { authorization: `Bearer ${keys[0] ?? ""}` };
  const answer = await fetch(`${baseUrl}/api/files?name=${name}`, {
    method: "POST",
    headers,
    body: new Uint8Array(1000),
  });
  if (answer.status !== 201) throw new Error(`the upload answered ${String(answer.status)}`);
  return ((await answer.json()) as { file: { id: string } }).file.id;
}

async function launch(
  directory: string,
  variables: Readonly<Record<string, string>>,
  isFirst = true,
): Promise<{ child: ChildProcess; baseUrl: string }> {
  const logPath = join(directory, `log-${String(Date.now())}`);
  const log = openSync(logPath, "w");
  const env = { PATH: process.env["PATH"], SERVICE_PORT: "0", ...variables };
  const child = spawn(process.execPath, ["--conditions=coffer-source", MAIN], {
    env,
    stdio: ["ignore", "ignore", log],
  });
  closeSync(log);
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const text = readFileSync(logPath, "utf8");
    const baseUrl = /listens on (http:\S+)/.exec(text)?.[1];
    // The clean-up of the start must not run into the measurement. One process of all does it.
    if (baseUrl !== undefined && (!isFirst || text.includes('"start-up"'))) return { child, baseUrl };
    if (child.exitCode !== null) throw new Error(`the server did not start:\n${text}`);
    await pause(50);
  }
  await stopChild(child);
  throw new Error("the server did not start in time");
}
