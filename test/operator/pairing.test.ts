/**
 * Rows and contents that do not belong together, as operators bring it about: real servers on real files. Whatever happens, no
 * content is deleted, and what the server says names both places and the way out.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { cephStore, skipWithoutCeph } from "../kit/ceph/store.ts";
import { makeDirectory } from "../kit/directory.ts";
import { type ServerProcess, startServerProcess } from "../crash/server-process.ts";
import { SERVER_MAIN } from "../kit/server-program.ts";

const HOUR = 3_600_000;
/** How often deletions are due; a stop shows within it. */
const DELETION_PAUSE = 15_000;

type Settings = Readonly<Record<string, string>>;
type Account = Readonly<{ key: string; ids: Map<string, string> }>;

async function signUp({ baseUrl }: ServerProcess): Promise<Account> {
  const sent = { method: "POST", headers: { "content-type": "application/json" } };
  const answer = await fetch(`${baseUrl}/api/auth/dev-signup`, { ...sent, body: '{"email":"pairing@example.test"}' });
  const { apiKey: key } = (await answer.json()) as { apiKey: string };
  return { key, ids: new Map() };
}

async function upload({ baseUrl }: ServerProcess, { key, ids }: Account, ...names: string[]): Promise<void> {
  for (const name of names) {
    const answer = await fetch(`${baseUrl}/api/files?name=${name}`, {
      method: "POST",
      body: `the content of ${name}`,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
    });
    expect(answer.status).toBe(201);
    ids.set(name, ((await answer.json()) as { file: { id: string } }).file.id);
  }
}

async function requireRead({ baseUrl }: ServerProcess, { key, ids }: Account): Promise<void> {
  for (const [name, id] of ids) {
    const answer = await fetch(`${baseUrl}/api/files/${id}/content`, { headers: { authorization: `Bearer ${key}` } });
    expect([name, await answer.text()]).toEqual([name, `the content of ${name}`]);
  }
}

/** A service that has run: its settings, its account, and copies of its rows after each run. */
async function serveAndStop(directory: string, account: Account | null, ...names: string[]): Promise<Account> {
  await using server = await startServerProcess({ directory });
  const served = account ?? (await signUp(server));
  await upload(server, served, ...names);
  await server.waitForLine((line) => line.job === "start-up");
  expect(await server.end("SIGTERM")).toBe(0);
  return served;
}

const rowsOf = (directory: string): string => join(directory, "coffer.sqlite");

/** As a backup by copying does it, with no server at work. */
function copyRows(from: string, to: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(to + end, { force: true });
  cpSync(from, to);
}

/** Every content in the store, by name, and old enough for a sweep. */
function contentsOf(directory: string): string[] {
  const entries = readdirSync(join(directory, "blobs", "blobs"), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const past = new Date(Date.now() - 2 * HOUR);
  for (const { parentPath, name } of files) utimesSync(join(parentPath, name), past, past);
  return files.map(({ name }) => name).toSorted();
}

/** What a scrape and a probe show. */
async function stateOf({ baseUrl }: ServerProcess): Promise<{ ready: unknown; stopped: string | undefined }> {
  const ready = await fetch(`${baseUrl}/readyz`);
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  const stopped = /^coffer_deletions_stopped (\d)$/m.exec(metrics)?.[1];
  return { ready: [ready.status, await ready.json()], stopped };
}

const GOING_ON = { ready: [200, { status: "ready" }], stopped: "0" };
const STOPPED = { ready: [200, { status: "ready", deletions: "stopped" }], stopped: "1" };

async function refusal(directory: string, environment: Settings = {}): Promise<string> {
  try {
    await using server = await startServerProcess({ directory, environment });
    await server.waitForLine((line) => line.job === "start-up");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "it started";
}

async function run(directory: string, ...words: string[]) {
  const child = spawn(process.execPath, [SERVER_MAIN, ...words], {
    env: { PATH: process.env["PATH"], SERVICE_ENV: "development", SERVICE_DATA_DIR: directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { out: "", said: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...text };
}

const hasStopped = (line: { readonly job?: string }): boolean => line.job === "store's mark" && "reason" in line;

describe("rows that are not those of the store", () => {
  it("are refused when they are missing, empty or another's, and a store that is empty or another's is refused, too", async () => {
    const [directory, other, kept] = [makeDirectory(), makeDirectory(), makeDirectory()];
    const account = await serveAndStop(directory, null, "one", "two", "three");
    await serveAndStop(other, null, "four");
    const before = contentsOf(directory);
    const rows = join(kept, "coffer.sqlite");
    copyRows(rowsOf(directory), rows);

    for (const end of ["", "-wal", "-shm"]) rmSync(rowsOf(directory) + end, { force: true });
    const missing = await refusal(directory);
    expect(missing).toContain(`${rowsOf(directory)} is new, and ${join(directory, "blobs")} belongs to another`);
    expect(missing).toContain("coffer-server adopt");
    expect(contentsOf(directory)).toEqual(before);

    for (const end of ["-wal", "-shm"]) rmSync(rowsOf(directory) + end, { force: true });
    writeFileSync(rowsOf(directory), "");
    expect(await refusal(directory)).toContain(`${rowsOf(directory)} is new, and`);
    expect(contentsOf(directory)).toEqual(before);

    copyRows(rowsOf(other), rowsOf(directory));
    expect(await refusal(directory)).toContain(`${join(directory, "blobs")} belongs to another database`);
    expect(contentsOf(directory)).toEqual(before);

    copyRows(rows, rowsOf(directory));
    renameSync(join(directory, "blobs"), join(kept, "blobs"));
    mkdirSync(join(directory, "blobs"));
    const empty = await refusal(directory);
    expect(empty).toContain(`${join(directory, "blobs")} is empty`);
    expect(empty).toContain("mounted");
    rmSync(join(directory, "blobs"), { recursive: true });
    renameSync(join(kept, "blobs"), join(directory, "blobs"));

    await using server = await startServerProcess({ directory });
    await server.waitForLine((line) => line.job === "start-up");
    await requireRead(server, account);
    expect(await stateOf(server)).toEqual(GOING_ON);
    expect(contentsOf(directory)).toEqual(before);
  });

  it("stop all deletion when they are of yesterday, until the newest are back or an operator adopts", async () => {
    const [directory, kept] = [makeDirectory(), makeDirectory()];
    const [yesterday, newest] = [join(kept, "yesterday.sqlite"), join(kept, "newest.sqlite")];
    const account = await serveAndStop(directory, null, "one", "two");
    copyRows(rowsOf(directory), yesterday);
    {
      using rows = new DatabaseSync(yesterday);
      rows.prepare("update store_marks set renewed_at = renewed_at - ?").run(24 * HOUR);
    }
    await serveAndStop(directory, account, "three", "four", "five");
    copyRows(rowsOf(directory), newest);
    const before = contentsOf(directory);

    copyRows(yesterday, rowsOf(directory));
    {
      await using server = await startServerProcess({ directory });
      const line = await server.waitForLine(hasStopped);
      await server.waitForLine((one) => one.job === "start-up");
      expect(line).toMatchObject({ level: 50, reason: "older-rows" });
      expect(line["msg"]).toContain("These rows are older than the store");
      expect(line["msg"]).toContain(rowsOf(directory));
      expect(server.log.filter(hasStopped)).toHaveLength(1);
      expect(await stateOf(server)).toEqual(STOPPED);
      const [one] = [...account.ids].slice(0, 1);
      await requireRead(server, { key: account.key, ids: new Map([one ?? ["", ""]]) });
      await upload(server, { key: account.key, ids: new Map() }, "meanwhile");
      expect(contentsOf(directory)).toEqual(expect.arrayContaining(before));
      await server.end("SIGTERM");
    }
    const early = await run(directory, "adopt", "--yes");
    expect([early.code, early.said]).toEqual([1, expect.stringContaining("renewed")]);

    copyRows(newest, rowsOf(directory));
    await using server = await startServerProcess({ directory });
    await server.waitForLine((line) => line.job === "start-up");
    await requireRead(server, account);
    expect((await stateOf(server)).stopped).toBe("0");
  });
});

describe("a cloned database", () => {
  it("stops deletion on both sides, and goes on at the one that an operator adopts", async () => {
    const [directory, clone] = [makeDirectory(), makeDirectory()];
    const account = await serveAndStop(directory, null, "one", "two");
    copyRows(rowsOf(directory), rowsOf(clone));
    symlinkSync(join(directory, "blobs"), join(clone, "blobs"));

    await using server = await startServerProcess({ directory });
    await server.waitForLine((line) => line.job === "start-up");
    await upload(server, account, "three", "four");
    const before = contentsOf(directory);
    {
      // What somebody with the clone deletes for good there, and what is due at the first one.
      using rows = new DatabaseSync(rowsOf(clone));
      rows.exec(`insert into blob_deletions (blob_key, not_before, account_id, bytes)
        select blob_key, 0, null, 0 from files where name = 'one'; delete from files where name = 'one'`);
    }
    await using other = await startServerProcess({ directory: clone });
    const second = await other.waitForLine(hasStopped);
    expect(second["msg"]).toContain("Another database is writing here");
    expect(second["msg"]).toContain(join(clone, "blobs"));
    await other.waitForLine((line) => line.job === "start-up");
    expect(await stateOf(other)).toEqual(STOPPED);
    // The first one learns of it with its next deletions.
    expect((await server.waitForLine(hasStopped))["reason"]).toBe("another-database");
    expect(await stateOf(server)).toEqual(STOPPED);
    expect(contentsOf(directory)).toEqual(before);
    await requireRead(server, account);

    const refused = await run(clone, "adopt", "--yes");
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining("renewed")]);
    await other.end("SIGTERM");
    const unsure = await run(directory, "adopt");
    expect([unsure.code, unsure.out]).toEqual([1, expect.stringContaining("4 contents that these rows name")]);
    expect(unsure.said).toContain("say --yes");
    expect(await stateOf(server)).toEqual(STOPPED);
    const adopted = await run(directory, "adopt", "--yes");
    expect([adopted.code, adopted.said]).toEqual([0, expect.stringContaining("belong together")]);
    expect(await stateOf(server)).toEqual(GOING_ON);
    await new Promise((resolve) => setTimeout(resolve, DELETION_PAUSE + 1_000));
    expect(await stateOf(server)).toEqual(GOING_ON);
    expect(contentsOf(directory)).toEqual(before);
  });
});

describe("a bucket", () => {
  it("refuses a database of another name", async (context) => {
    skipWithoutCeph(context);
    const { endpoint, bucket, prefix, accessKeyId, secretAccessKey } = await cephStore();
    const environment = {
      SERVICE_BLOBS_URL: `${endpoint}/${bucket}/${prefix}`,
      SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId,
      SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey,
    };
    const directory = makeDirectory();
    let account: Account;
    {
      await using server = await startServerProcess({ directory, environment });
      account = await signUp(server);
      await upload(server, account, "one", "two");
      await server.waitForLine((line) => line.job === "start-up");
      await server.end("SIGTERM");
    }
    const said = await refusal(makeDirectory(), environment);
    expect(said).toContain(`${endpoint}/${bucket}/${prefix} belongs to another database`);
    expect(said).not.toContain(secretAccessKey);
    const empty = await refusal(directory, { ...environment, SERVICE_BLOBS_URL: `${endpoint}/${bucket}/nothing` });
    expect(empty).toContain(`${endpoint}/${bucket}/nothing/ is empty`);
    await using server = await startServerProcess({ directory, environment });
    await server.waitForLine((line) => line.job === "start-up");
    await requireRead(server, account);
    expect(await stateOf(server)).toEqual(GOING_ON);
  });
});
