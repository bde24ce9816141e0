/**
 * TEST ONLY: the whole app on a database of its own, with its log and a clock that does not move. Its end fails when
 * the database or the log holds a secret that went through it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  databasePlaces,
  recordAnswer,
  recordedSecrets,
  recordMail,
  recordRequest,
} from "../../test/kit/secret-recorder.ts";
import { requireNoSecrets } from "../../test/kit/secret-scan.ts";
import { type App, buildApp } from "./app.ts";
import { type Environment, parseConfig } from "./config.ts";
import type { Deps } from "./deps.ts";
import { openTestChain, type TestChain } from "./drivers/chain/chain.test-kit.ts";
import { openLog } from "./http/log.ts";
import { openTestBlobs, openTestDatabase } from "./storage.test-kit.ts";
import type { Mail, Mailer } from "./ports/mailer.ts";
import { systemRandom } from "./ports/random.ts";
import { openProviders } from "./providers.ts";
import { openWebhookSender } from "./drivers/webhook-sender/undici.ts";

export interface TestApp extends AsyncDisposable {
  readonly app: App;
  readonly deps: Deps;
  /** Its database is there. */
  readonly directory: string;
  /** What the app reads, unless a test put another in its place. */
  readonly chain: TestChain;
  /** A negative step sets it back, as an operator or NTP does: what has elapsed goes on. */
  readonly clock: Deps["clock"] & { advance(milliseconds: number): void };
  readonly readiness: { state: "starting" | "ready" | "stopping" };
  /** Every mail sent so far. */
  readonly mails: readonly Mail[];
  /** Everything logged so far. */
  logged(): string;
  /** A new account's raw key. */
  signUp(): Promise<{ id: string; key: string }>;
  /** The id of a new public vault of the key's account. */
  newVault(key: string, name: string): Promise<string>;
  /** A new key of the key's account; fails where it is refused. */
  newKey(key: string, wanted?: object): Promise<{ id: string; key: string }>;
  ask(method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE" | "HEAD", url: string, call?: TestCall): Promise<TestAnswer>;
}

export interface TestCall {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly payload?: string;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export interface TestAppOptions {
  readonly environment?: Environment;
  /** Replaces a driver. */
  readonly replace?: (deps: Deps) => Partial<Deps>;
}

export async function openTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-app-"));
  const database = await openTestDatabase(directory);
  const config = parseConfig({ SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...options.environment });
  const clock = standingClock();
  const mails: Mail[] = [];
  const chain = openTestChain(clock);
  const whole: Deps = {
    database,
    blobs: await openTestBlobs(database, clock),
    clock,
    random: systemRandom,
    mailer: recordingMailer(mails),
    webhookSender: openWebhookSender(config.settings.webhooks, { clock }),
    ...openProviders(config, clock),
    chain,
  };
  const deps = { ...whole, ...options.replace?.(whole) };
  const lines: string[] = [];
  const log = openLog("info", { write: (bytes) => void lines.push(new TextDecoder().decode(bytes)) });
  const readiness: TestApp["readiness"] = { state: "ready" };
  const app = buildApp(deps, { log, readiness, stopping: new AbortController().signal });
  const ask: TestApp["ask"] = async (method, url, call = {}) => {
    const sent = toInjected(call);
    recordRequest(sent.payload ?? "");
    const answer = await app.inject({ method, url, ...sent });
    recordAnswer(answer.payload);
    const isJson = (answer.headers["content-type"] ?? "").startsWith("application/json") && answer.payload !== "";
    const body = isJson ? (JSON.parse(answer.payload) as Record<string, unknown>) : {};
    return { status: answer.statusCode, headers: answer.headers, text: answer.payload, body };
  };
  return {
    app,
    deps,
    directory,
    clock,
    chain,
    readiness,
    ask,
    mails,
    logged() {
      log.flush();
      return lines.join("");
    },
    async signUp() {
      const json = { email: `${systemRandom.uuid()}@example.test` };
      const { body } = await ask("POST", "/api/auth/dev-signup", { json });
      return { id: String(body["id"]), key: String(body["apiKey"]) };
    },
    async newKey(key, wanted) {
      const { status, body, text } = await ask("POST", "/api/auth/api-keys", { key, json: { name: "K", ...wanted } });
      if (status !== 201) throw new Error(`no key was made: ${text}`);
      return { id: String(body["id"]), key: String(body["key"]) };
    },
    async newVault(key, name) {
      const { body } = await ask("POST", "/api/vaults", { key, json: { name, type: "public" } });
      return (body["vault"] as { id: string }).id;
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      log.flush();
      // Read before the database is closed, so that its write-ahead log is still there.
      const places = await databasePlaces(directory);
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      requireNoSecrets(recordedSecrets(), [...places, { name: "log", bytes: Buffer.from(lines.join("")) }]);
    },
  };
}

function toInjected({ key, headers, json, payload }: TestCall) {
  const all: Record<string, string> = { ...headers };
  if (key !== undefined) all["authorization"] = `Bearer ${key}`;
  const text = json === undefined ? payload : JSON.stringify(json);
  if (json !== undefined) all["content-type"] = "application/json";
  return { headers: all, ...(text === undefined ? {} : { payload: text }) };
}

function recordingMailer(mails: Mail[]): Mailer {
  return {
    delivers: true,
    send: (mail) => {
      mails.push(mail);
      recordMail(mail.text);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function standingClock(): TestApp["clock"] {
  const start = Date.UTC(2026, 10, 20, 12);
  let now = start;
  let elapsed = 0;
  return {
    now: () => now,
    elapsed: () => elapsed,
    advance: (milliseconds) => {
      now += milliseconds;
      elapsed += Math.max(0, milliseconds);
    },
  };
}
