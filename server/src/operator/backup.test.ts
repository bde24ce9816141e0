/**
 * `backup` and `restore` as an operator runs them: while the service writes, and in another place after everything else is gone.
 * Deep: see DEEP in vitest.config.ts.
 */
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { patternBytes } from "../../../test/kit/bytes.ts";
import { cephStore, skipWithoutCeph } from "../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { type ServerProcess, startServerProcess } from "../../../test/crash/server-process.ts";
import { SERVER_MAIN } from "../../../test/kit/server-program.ts";

type Settings = Readonly<Record<string, string>>;

const WRITERS = 4;
/** What is acknowledged before the backup begins, and again after it has ended. */
const FILES = 12;
const SIZES = [0, 900, 70_000, 300_000, 6 * 1024 * 1024 + 7];

const contentOf = (name: string): Buffer =>
  patternBytes(name, SIZES[Number(name.split("-").at(-1)) % SIZES.length] ?? 0);

interface Work {
  readonly key: string;
  /** Ids of acknowledged files by their names. */
  readonly acknowledged: Map<string, string>;
  /** Until there are so many more. */
  more(count: number): Promise<void>;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

async function ask(server: ServerProcess, key: string, method: string, path: string, body?: Uint8Array) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
  return fetch(server.baseUrl + path, { method, headers, ...(body && { body: new Uint8Array(body) }) });
}

/** Writers that upload without a pause, and put every fifth file into the trash afterwards. */
async function startWork(server: ServerProcess): Promise<Work> {
  const account = { email: "backup@example.test" };
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(account) };
  const answer = await fetch(`${server.baseUrl}/api/auth/dev-signup`, json);
  const { apiKey: key } = (await answer.json()) as { apiKey: string };
  const acknowledged = new Map<string, string>();
  let stopping = false;
  const write = async (writer: number): Promise<void> => {
    for (let number = 0; !stopping; number += 1) {
      const name = `file-${String(writer)}-${String(number)}`;
      const made = await ask(server, key, "POST", `/api/files?name=${name}`, contentOf(name)).catch(() => null);
      if (made?.status !== 201) continue;
      const { file } = (await made.json()) as { file: { id: string } };
      if (number % 5 === 4) await ask(server, key, "DELETE", `/api/files/${file.id}`).catch(() => null);
      else acknowledged.set(name, file.id);
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  return {
    key,
    acknowledged,
    async more(count) {
      const enough = acknowledged.size + count;
      await vi.waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(enough), { timeout: 60_000 });
    },
    async stop() {
      stopping = true;
      await Promise.all(writers);
    },
  };
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

function launch(settings: Settings, words: readonly string[]) {
  return spawn(process.execPath, [SERVER_MAIN, ...words], {
    env: { PATH: process.env["PATH"], SERVICE_ENV: "development", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function run(settings: Settings, ...words: string[]): Promise<Ended> {
  const child = launch(settings, words);
  const text = { out: "", said: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...text };
}

async function succeed(settings: Settings, ...words: string[]): Promise<Ended> {
  const ended = await run(settings, ...words);
  if (ended.code !== 0)
    throw new Error(`coffer-server ${words.join(" ")} ended with ${String(ended.code)}: ${ended.said}`);
  return ended;
}

const serve = ({ SERVICE_DATA_DIR: directory = "", ...environment }: Settings) =>
  startServerProcess({ directory, environment });

/** A backup under load, after which the server is killed. */
async function backUp(settings: Settings, ...options: string[]) {
  const directory = join(makeDirectory(), "backup");
  await using server = await serve(settings);
  const work = await startWork(server);
  await work.more(FILES);
  const promised = new Map(work.acknowledged);
  const { said } = await succeed(settings, "backup", directory, ...options);
  await work.more(FILES);
  await server.end("SIGKILL");
  await work.stop();
  return { directory, work, promised, said };
}

type BackedUp = Awaited<ReturnType<typeof backUp>>;

async function requireRestored(settings: Settings, { work, promised, directory }: BackedUp): Promise<void> {
  await using server = await serve(settings);
  for (const [name, id] of promised) {
    const answer = await ask(server, work.key, "GET", `/api/files/${id}/content`);
    expect([name, answer.status]).toEqual([name, 200]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(hash("sha256", bytes, "hex"), name).toBe(hash("sha256", contentOf(name), "hex"));
  }
  // What was acknowledged after the rows were copied is whole, too, or not there at all.
  for (const [name, id] of work.acknowledged) {
    const answer = await ask(server, work.key, "GET", `/api/files/${id}/content`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 404) expect([name, bytes.equals(contentOf(name))]).toEqual([name, true]);
  }
  expect((await ask(server, work.key, "POST", "/api/files?name=later", Buffer.from("later"))).status).toBe(201);
  const found = (await (await ask(server, work.key, "GET", "/api/files/search?q=file")).json()) as { files: unknown[] };
  expect(found.files.length).toBeGreaterThan(0);
  // A client that has seen more than was restored begins again.
  const ahead = await ask(server, work.key, "GET", "/api/changes?after=1000000");
  expect(ahead.status).toBe(410);
  expect((await ask(server, work.key, "GET", "/api/events?after=1000000")).status).toBe(410);
  await server.waitForLine((line) => line.job === "start-up");
  expect(server.log.filter((line) => line["msg"] === "files without content")).toEqual([]);
  await server.end("SIGTERM");
  await succeed(settings, "audit", "verify", "--heads", join(directory, "heads.txt"));
}

async function large(): Promise<Settings & AsyncDisposable> {
  const database = await createDatabase("empty");
  const { endpoint, bucket, prefix, accessKeyId, secretAccessKey } = await cephStore();
  return {
    SERVICE_DATA_DIR: makeDirectory(),
    SERVICE_DATABASE_URL: database.url,
    SERVICE_BLOBS_URL: `${endpoint}/${bucket}/${prefix}`,
    SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId,
    SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

describe("SQLite and disk", () => {
  const settings = { SERVICE_DATA_DIR: makeDirectory() };
  let made: BackedUp;
  let second: Ended;

  /** Once, and the service is gone then: each test restores it to a place of its own. */
  beforeAll(async () => {
    made = await backUp(settings);
    second = await run(settings, "backup", made.directory);
    rmSync(settings.SERVICE_DATA_DIR, { recursive: true });
  });

  /** For a test that damages it. */
  function copied(): string {
    const directory = join(makeDirectory(), "backup");
    cpSync(made.directory, directory, { recursive: true });
    return directory;
  }

  it("come back in another directory", async () => {
    expect(statSync(made.directory).mode & 0o777).toBe(0o700);
    const data = join(makeDirectory(), "restored");
    const restored = await succeed(settings, "restore", made.directory, "--data", data);
    expect(restored.said).toContain("memberships and deletions are as they were on");
    await requireRestored({ SERVICE_DATA_DIR: data }, made);
    expect(readdirSync(data).filter((name) => name.startsWith("restore-"))).toEqual([]);
  });

  it("are served by no server from the backup itself, nor before a restore is complete", async () => {
    await expect(serve({ SERVICE_DATA_DIR: made.directory })).rejects.toThrow("These are the rows of a backup");
    const data = join(makeDirectory(), "restored");
    // A broken disk of the backup: found before anything is served.
    const child = launch(settings, ["restore", made.directory, "--data", data]);
    // Before it the new database gets its schema, and a server may begin on that.
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.startsWith("restore: ")) child.kill("SIGKILL");
    });
    await once(child, "close");
    await expect(serve({ SERVICE_DATA_DIR: data })).rejects.toThrow("is not complete: run it again");
    await succeed(settings, "restore", made.directory, "--data", data);
    await requireRestored({ SERVICE_DATA_DIR: data }, made);
    const again = await run(settings, "restore", made.directory, "--data", data);
    expect([again.code, again.said]).toEqual([1, expect.stringContaining("has data of its own")]);
  });

  it("are tried out on loopback: reads are answered, changes refused, and nothing is changed", async () => {
    const data = join(makeDirectory(), "trial");
    const child = launch(settings, ["restore", made.directory, "--data", data, "--trial"]);
    const lines = createInterface({ input: child.stderr });
    let baseUrl = "";
    for await (const line of lines) {
      baseUrl = /tries out the backup on (http:\/\/127\.0\.0\.1:\d+),/.exec(line)?.[1] ?? "";
      if (baseUrl !== "") break;
    }
    const server = { baseUrl } as ServerProcess;
    const [[name, id] = ["", ""]] = made.promised;
    const read = await ask(server, made.work.key, "GET", `/api/files/${id}/content`);
    expect(Buffer.from(await read.arrayBuffer()).equals(contentOf(name))).toBe(true);
    const changes = [
      ["POST", "/api/files?name=refused"],
      ["DELETE", `/api/files/${id}`],
      ["PATCH", `/api/files/${id}`],
      ["PUT", `/api/files/${id}/content`],
      ["POST", "/api/auth/dev-signup"],
    ] as const;
    for (const [method, path] of changes) {
      const refused = await ask(server, made.work.key, method, path, Buffer.from("{}"));
      expect([method, refused.status, await refused.text()]).toEqual([
        method,
        503,
        expect.stringContaining("tries out a backup"),
      ]);
    }
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(0);
    await requireRestored({ SERVICE_DATA_DIR: data }, made);
  });

  it("say what the backup lacks, and end all keys where that is wanted", async () => {
    const { work, promised } = made;
    const directory = copied();
    const blobs = join(directory, "blobs", "blobs");
    const [lost = ""] = readdirSync(blobs, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 3);
    rmSync(join(blobs, lost));
    const data = join(makeDirectory(), "restored");
    const restored = await run(settings, "restore", directory, "--data", data, "--end-keys");
    expect([restored.code, restored.said]).toEqual([1, expect.stringContaining("1 contents are not in the backup")]);
    await using server = await serve({ SERVICE_DATA_DIR: data });
    const [id = ""] = promised.values();
    expect((await ask(server, work.key, "GET", `/api/files/${id}`)).status).toBe(401);
  });

  it("refuse rows that are damaged, and a directory that has something in it", async () => {
    expect(second.said).toContain("is not empty");
    const directory = copied();
    const rows = join(directory, "coffer.sqlite");
    const bytes = readFileSync(rows);
    bytes[bytes.length - 100] = (bytes.at(-100) ?? 0) ^ 1;
    writeFileSync(rows, bytes);
    const refused = await run(settings, "restore", directory, "--data", join(makeDirectory(), "restored"));
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("is not what the backup wrote")]);
  });
});

describe("PostgreSQL and S3", () => {
  it("come back in another database and prefix, and in SQLite on a disk", async (context) => {
    skipWithoutCeph(context);
    await using settings = await large();
    const made = await backUp(settings);
    await using fresh = await large();
    await succeed(fresh, "restore", made.directory);
    await requireRestored(fresh, made);
    const data = join(makeDirectory(), "restored");
    await succeed(fresh, "restore", made.directory, "--data", data);
    await requireRestored({ SERVICE_DATA_DIR: data }, made);
  });

  it("come back from a list, out of the store that has the contents", async (context) => {
    skipWithoutCeph(context);
    await using settings = await large();
    const made = await backUp(settings, "--list");
    expect(made.said).toContain("while the bucket keeps their versions");
    expect(readdirSync(join(made.directory, "blobs", "blobs"), { recursive: true }).length).toBe(256);
    await using fresh = await large();
    expect((await run(fresh, "restore", made.directory)).said).toContain("only lists its contents");
    const old = join(makeDirectory(), "old.env");
    writeFileSync(
      old,
      Object.entries({ SERVICE_ENV: "development", ...settings })
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
      { mode: 0o600 },
    );
    await succeed(fresh, "restore", made.directory, "--contents", old);
    await requireRestored(fresh, made);
  });
});
