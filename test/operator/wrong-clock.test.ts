/** A server's clock that is wrong at a start, set right again, or set while it runs: nothing is deleted, and nobody waits for long. */
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { engineSettings } from "../kit/engine-settings.ts";
import { runOperator } from "../journeys/kit/operator.ts";
import { signUp } from "../kit/signed-up.ts";
import { openRowReader } from "../crash/row-reader.ts";
import { type LogLine, type ServerProcess, startServerProcess } from "../crash/server-process.ts";
import { clockAhead, clockThatIsSet, NO_FAKETIME } from "./set-clock.ts";

const DAY = 86_400;
const PASSWORD = "violin harbour seventeen moss";
const FIRST_ROUND = (line: LogLine): boolean => line.job === "start-up";
const WAITS = (line: LogLine): boolean => line.job === "clock";

let directory: string;
let settings: Record<string, string>;

beforeEach(async (context) => {
  if (NO_FAKETIME !== null) context.skip(NO_FAKETIME);
  directory = makeDirectory();
  settings = { ...(await engineSettings(directory)), SERVICE_SIGN_IN_FAILURES: "2" };
});

/** With a first round of its jobs behind it: those that do not wait have run. */
async function start(more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const server = await startServerProcess({ directory, environment: { ...settings, ...more } });
  await server.waitForLine(FIRST_ROUND);
  return server;
}

const operator = (...words: string[]) =>
  runOperator(words, { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...settings });

interface Asking {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly body?: string;
}

async function ask(server: ServerProcess, method: string, path: string, { key, headers, json, body }: Asking = {}) {
  const sent = json === undefined ? body : JSON.stringify(json);
  const answer = await fetch(new URL(path, server.baseUrl), {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text };
}

async function readyDetail(server: ServerProcess): Promise<string | undefined> {
  const { status, text } = await ask(server, "GET", "/readyz");
  expect(status).toBe(200);
  return (JSON.parse(text) as { detail?: string }).detail;
}

async function waitSeconds(server: ServerProcess): Promise<number> {
  const { text } = await ask(server, "GET", "/metrics");
  return Number(/^coffer_jobs_wait_seconds (\S+)$/m.exec(text)?.[1]);
}

/** One account with a file that was replaced, and one that was trashed. */
async function fill(server: ServerProcess): Promise<string> {
  const { key } = await signUp(server.baseUrl);
  const upload = async (name: string): Promise<string> => {
    const { text } = await ask(server, "POST", `/api/files?name=${name}`, { key, body: `content of ${name}` });
    return (JSON.parse(text) as { file: { id: string } }).file.id;
  };
  const replaced = await upload("replaced");
  const path = `/api/files/${replaced}/content`;
  expect((await ask(server, "PUT", path, { key, body: "new content" })).status).toBe(200);
  const trashed = await upload("trashed");
  expect((await ask(server, "DELETE", `/api/files/${trashed}`, { key })).status).toBeLessThan(300);
  return key;
}

/** What time alone deletes, as rows. */
async function countKept(): Promise<Record<string, number>> {
  await using rows = openRowReader(directory);
  const counts: Record<string, number> = {};
  for (const table of ["files", "file_versions", "changes", "uploads"])
    counts[table] = Number((await rows.all(`SELECT count(*) AS rows FROM ${table}`))[0]?.["rows"]);
  return counts;
}

const TUS = { "tus-resumable": "1.0.0" };

async function beginUpload(server: ServerProcess, key: string): Promise<string> {
  const headers = { ...TUS, "upload-length": "10", "upload-metadata": `filename ${btoa(randomUUID())}` };
  return String((await ask(server, "POST", "/api/uploads", { key, headers })).headers.get("location"));
}

/** Sends half of it and no more, so that the process dies with the upload's lease. */
async function hangIn(server: ServerProcess, key: string, path: string): Promise<void> {
  const headers = {
    ...TUS,
    authorization: `Bearer ${key}`,
    "upload-offset": "0",
    "content-length": "10",
    "content-type": "application/offset+octet-stream",
  };
  const sent = request(new URL(path, server.baseUrl), { method: "PATCH", headers, agent: false });
  sent.on("error", () => undefined).write("hello");
  await using rows = openRowReader(directory);
  while ((await rows.all("SELECT name FROM leases WHERE name LIKE 'upload:%' AND holder IS NOT NULL")).length === 0)
    await pause(20);
}

async function signUpWithPassword(server: ServerProcess): Promise<string> {
  const accessCode = (await operator("access-codes", "create")).stdout.trim();
  const email = `${randomUUID()}@example.test`;
  const json = { email, password: PASSWORD, accessCode };
  expect((await ask(server, "POST", "/api/auth/signup", { json })).status).toBe(201);
  return email;
}

const logIn = async (server: ServerProcess, email: string, password: string): Promise<number> =>
  (await ask(server, "POST", "/api/auth/login", { json: { email, password } })).status;

describe.each([
  ["two days ahead", 2 * DAY],
  ["400 days ahead", 400 * DAY],
])("a start with the clock %s", (_, ahead) => {
  it("deletes nothing, says so, and leaves no lease and no wait behind once the clock is right", async () => {
    const before = await start();
    const key = await fill(before);
    const email = await signUpWithPassword(before);
    await before.end("SIGTERM");
    const kept = await countKept();

    const wrong = await start(clockAhead(ahead));
    await wrong.waitForLine(WAITS);
    expect(await readyDetail(wrong)).toMatch(/^The clock is \d+ days ahead.*`coffer-server clock confirm`/);
    expect(await waitSeconds(wrong)).toBe(DAY);
    expect(await countKept()).toEqual(kept);
    const upload = await beginUpload(wrong, key);
    await hangIn(wrong, key, upload);
    for (let guess = 0; guess < 4; guess += 1) await logIn(wrong, email, "wrong");
    expect(await logIn(wrong, email, PASSWORD)).toBe(429);
    await wrong.end("SIGKILL");

    await using right = await start();
    expect(await logIn(right, email, PASSWORD)).toBe(200);
    const offset = (await ask(right, "HEAD", upload, { key, headers: TUS })).headers.get("upload-offset") ?? "";
    const rest = "helloworld".slice(Number(offset));
    const headers = { ...TUS, "upload-offset": offset, "content-type": "application/offset+octet-stream" };
    expect((await ask(right, "PATCH", upload, { key, headers, body: rest })).status).toBe(204);
    expect(await readyDetail(right)).toMatch(/^The clock is .* behind: /);
    const { files, file_versions } = await countKept();
    expect([files, file_versions]).toEqual([Number(kept["files"]) + 1, kept["file_versions"]]);

    expect((await operator("clock", "confirm")).stderr).toContain("Confirmed");
    expect(await readyDetail(right)).toBeUndefined();
    expect(await waitSeconds(right)).toBe(0);
    const audit = JSON.parse((await ask(right, "GET", "/api/audit-log", { key })).text) as {
      events: { action: string; actor: { type: string } }[];
    };
    expect(audit.events.find(({ action }) => action === "server.clock_confirmed")?.actor.type).toBe("operator");
    expect(await countKept()).toMatchObject({ file_versions: kept["file_versions"] });
  });
});

it("a long downtime that the operator confirms before the start makes nothing wait", async () => {
  const before = await start();
  await fill(before);
  await before.end("SIGTERM");
  const late = clockAhead(20 * DAY);
  const confirmed = await runOperator(["clock", "confirm"], {
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: directory,
    ...settings,
    ...late,
  });
  expect(confirmed.stderr).toContain("20 days ahead, or no server ran for so long");
  await using server = await start(late);
  expect(await readyDetail(server)).toBeUndefined();
});

it("a clock that is set 400 days ahead while the server runs makes the jobs wait within a minute", async () => {
  const clock = clockThatIsSet(directory);
  await using server = await start(clock.environment);
  await fill(server);
  const kept = await countKept();
  // Whole days are named, and the wall clock is read some moments apart from the monotonic one.
  clock.set(400 * DAY + 60);
  await server.waitForLine((line) => WAITS(line) && String(line["why"]).includes("set 400 days ahead"));
  expect(await readyDetail(server)).toContain("The clock was set 400 days ahead while the server ran");
  expect(await countKept()).toEqual(kept);
});
