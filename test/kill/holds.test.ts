/** What uploads hold of an account's storage, with two server processes on one data directory, one of which is killed (decision 0027). */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { beginUpload } from "./faults.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";

const MIB = 1024 * 1024;
/** Beyond what is ample, so that rows take room along for the next uploads. */
const QUOTA = 288 * MIB;

let directory: string;
let servers: readonly [ServerProcess, ServerProcess];
let key: string;
let database: DatabaseSync;
beforeEach(async () => {
  directory = makeDirectory();
  const start = () => startServerProcess({ directory, environment: { SERVICE_PRO_STORAGE_BYTES: String(QUOTA) } });
  servers = [await start(), await start()];
  ({ key } = await signUp(servers[0].baseUrl));
  database = new DatabaseSync(join(directory, "coffer.sqlite"));
});
afterEach(async () => {
  database.close();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
});

const sumOf = (query: string): number => Number(database.prepare(query).get()?.["sum"] ?? 0);
const held = () => sumOf("SELECT sum(bytes) AS sum FROM upload_holds");
const used = () => sumOf("SELECT sum(usage_bytes) AS sum FROM accounts");

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(10);
}

/** Declares a file and sends no more than its first MiB; answers once the service holds it. */
async function hold(server: ServerProcess, name: string, length: number) {
  const before = new Set(holders());
  const { request } = beginUpload(server.baseUrl, key, name, length);
  request.on("error", () => undefined).write(new Uint8Array(MIB));
  await until(() => holders().some((id) => !before.has(id)));
  return request;
}

const holders = (): unknown[] =>
  database
    .prepare("SELECT id FROM upload_holds")
    .all()
    .map(({ id }) => id);

/** The status of a file that fits into the buffers of its connection, or whose bytes are not waited for. */
async function store(server: ServerProcess, name: string, length: number): Promise<number> {
  const { request, answered } = beginUpload(server.baseUrl, key, name, length);
  if (length <= MIB) request.end(new Uint8Array(length));
  const { status } = await answered;
  request.destroy();
  return status;
}

it("two processes hold together no more than the quota, and what a killed one held ends", async () => {
  const [first, second] = servers;
  for (const server of servers) expect(await store(server, `first of ${String(server.port)}`, MIB)).toBe(201);
  // Each has taken room along for its next uploads. What it takes itself gives that back.
  expect(held()).toBe(32 * MIB);
  await hold(first, "held by the first", 90 * MIB);
  const cut = await hold(second, "held by the second", 90 * MIB);
  await hold(first, "held by the first, too", 105 * MIB);
  expect(used() + held()).toBe(QUOTA - MIB);
  for (const server of servers) expect(await store(server, "beyond", 2 * MIB)).toBe(403);
  const race = Array.from({ length: 40 }, (_, at) =>
    store(servers[at % 2 === 0 ? 0 : 1], `race-${String(at)}`, 100_000),
  );
  const statuses = await Promise.all(race);
  expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(10);
  expect(new Set(statuses)).toEqual(new Set([201, 403]));

  expect(await first.end("SIGKILL")).toBeNull();
  expect(await store(second, "after the kill", 2 * MIB)).toBe(403);
  cut.destroy();
  await until(() => held() === 195 * MIB);
  expect(used() + held()).toBeLessThanOrEqual(QUOTA);
  expect(await store(second, "in its place", 95 * MIB)).toBe(403);
  // As if the 90 seconds had passed.
  database.exec("UPDATE upload_holds SET expires_at = expires_at - 90000");
  await hold(second, "later", 99 * MIB);
  await hold(second, "later, too", 99 * MIB);
  expect(held()).toBe(198 * MIB);
});
