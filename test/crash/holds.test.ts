/** What uploads hold of an account's storage, with two server processes on one data directory and either engine, one of which is killed (decision 0027). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { addressFile } from "../kit/postgres/address.ts";
import { alterRows, createDatabase } from "../kit/postgres/databases.ts";
import { beginUpload } from "./faults.ts";
import { openRowReader, type RowReader } from "./row-reader.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";

const MIB = 1024 * 1024;
/** Beyond what is ample, so that rows take room along for the next uploads. */
const QUOTA = 288 * MIB;

interface Scene extends AsyncDisposable {
  readonly servers: readonly [ServerProcess, ServerProcess];
  readonly key: string;
  readonly rows: RowReader;
  /** Bytes. */
  readonly held: () => Promise<number>;
  readonly used: () => Promise<number>;
  /** As if the 90 seconds had passed after which holds end by themselves. */
  age(): Promise<void>;
}

async function openScene(on: "SQLite" | "PostgreSQL"): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const directory = makeDirectory();
  const url = on === "SQLite" ? null : opened.use(await createDatabase()).url;
  if (url !== null) writeFileSync(addressFile(directory), url);
  const environment = {
    SERVICE_PRO_STORAGE_BYTES: String(QUOTA),
    ...(url === null ? {} : { SERVICE_DATABASE_URL: url }),
  };
  const start = async () => opened.use(await startServerProcess({ directory, environment }));
  const servers = [await start(), await start()] as const;
  const { key } = await signUp(servers[0].baseUrl);
  const rows = opened.use(openRowReader(directory));
  const sumOf = async (query: string) => Number((await rows.all(query))[0]?.["sum"] ?? 0);
  const all = opened.move();
  return {
    servers,
    key,
    rows,
    held: () => sumOf("SELECT sum(bytes) AS sum FROM upload_holds"),
    used: () => sumOf("SELECT sum(usage_bytes) AS sum FROM accounts"),
    async age() {
      const aged = "UPDATE upload_holds SET expires_at = expires_at - 90000";
      if (url !== null) return alterRows(url, aged).then(() => undefined);
      using database = new DatabaseSync(join(directory, "coffer.sqlite"), { timeout: 10_000 });
      database.exec(aged);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(10);
}

/** Declares a file and sends no more than its first MiB; answers once the service holds it. */
async function hold({ key, rows }: Scene, server: ServerProcess, name: string, length: number) {
  const holders = async () => (await rows.all("SELECT id FROM upload_holds")).map(({ id }) => id);
  const before = new Set(await holders());
  const { request } = beginUpload(server.baseUrl, key, name, length);
  request.on("error", () => undefined).write(new Uint8Array(MIB));
  await until(async () => (await holders()).some((id) => !before.has(id)));
  return request;
}

/** The status of a file that fits into the buffers of its connection, or whose bytes are not waited for. */
async function store({ key }: Scene, server: ServerProcess, name: string, length: number): Promise<number> {
  const { request, answered } = beginUpload(server.baseUrl, key, name, length);
  if (length <= MIB) request.end(new Uint8Array(length));
  const { status } = await answered;
  request.destroy();
  return status;
}

it.each(["SQLite", "PostgreSQL"] as const)(
  "two processes on %s hold together no more than the quota, and what a killed one held ends [issue-20]",
  async (on) => {
    await using scene = await openScene(on);
    const { held, used, servers } = scene;
    const [first, second] = servers;
    for (const server of servers) expect(await store(scene, server, `first of ${String(server.port)}`, MIB)).toBe(201);
    // Each has taken room along for its next uploads. What it takes itself gives that back.
    expect(await held()).toBe(32 * MIB);
    await hold(scene, first, "held by the first", 90 * MIB);
    const cut = await hold(scene, second, "held by the second", 90 * MIB);
    await hold(scene, first, "held by the first, too", 105 * MIB);
    expect((await used()) + (await held())).toBe(QUOTA - MIB);
    for (const server of servers) expect(await store(scene, server, "beyond", 2 * MIB)).toBe(403);
    const race = Array.from({ length: 40 }, (_, at) =>
      store(scene, servers[at % 2 === 0 ? 0 : 1], `race-${String(at)}`, 100_000),
    );
    const statuses = await Promise.all(race);
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(10);
    expect(new Set(statuses)).toEqual(new Set([201, 403]));

    expect(await first.end("SIGKILL")).toBeNull();
    expect(await store(scene, second, "after the kill", 2 * MIB)).toBe(403);
    cut.destroy();
    await until(async () => (await held()) === 195 * MIB);
    expect((await used()) + (await held())).toBeLessThanOrEqual(QUOTA);
    expect(await store(scene, second, "in its place", 95 * MIB)).toBe(403);
    await scene.age();
    await hold(scene, second, "later", 99 * MIB);
    await hold(scene, second, "later, too", 99 * MIB);
    expect(await held()).toBe(198 * MIB);
  },
);
