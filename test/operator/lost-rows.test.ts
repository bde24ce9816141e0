/** What a start does when the rows are not those of the store: nothing is lost, and the right rows, put back, find everything. */
import { cpSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, it } from "vitest";
import { runOperator } from "../journeys/kit/operator.ts";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { type LogLine, type ServerProcess, startServerProcess } from "../crash/server-process.ts";

const FILES = 100;
const DATABASE = ["coffer.sqlite", "coffer.sqlite-wal", "coffer.sqlite-shm"];
/** Older than any age at which the sweep leaves contents alone. Seconds. */
const OLD = 3 * 24 * 3600;

interface Scene {
  readonly directory: string;
  readonly key: string;
  readonly ids: readonly string[];
  /** The rows as they were with half of the files. */
  readonly yesterday: string;
  /** The rows as they should be. */
  readonly right: string;
}

const textOf = (at: number): string => `the content of file ${String(at)}`;

let made: Scene;
beforeAll(async () => {
  made = await makeScene();
});

/** With a directory of its own. */
function copyScene(): Scene {
  const directory = makeDirectory();
  cpSync(made.directory, directory, { recursive: true, preserveTimestamps: true });
  return { ...made, directory };
}

it.each<[how: string, lose: (scene: Scene) => void]>([
  ["missing", ({ directory }) => removeRows(directory)],
  ["empty", ({ directory }) => (removeRows(directory), emptyFile(directory))],
])("a database that is %s is not taken for the store's, and costs none of 100 contents", async (_, lose) => {
  const scene = copyScene();
  lose(scene);
  await expect(startOnce(scene)).rejects.toThrow("put the rows of these contents back");
  expect(countContents(scene.directory)).toBe(FILES);
  putRows(scene.right, scene.directory);
  await requireAllRead(scene);
});

it("a database of yesterday costs none of 100 contents, and an operator is told", async () => {
  const scene = copyScene();
  putRows(scene.yesterday, scene.directory);
  const { log, metrics } = await startOnce(scene);
  expect(countContents(scene.directory)).toBe(FILES);
  const stopped = log.find((line) => String(line["msg"]).startsWith("the sweep stopped"));
  expect(stopped).toMatchObject({ level: 50, msg: expect.stringContaining("coffer-server sweep --dry-run") });
  expect(metrics).toMatch(/^coffer_sweep_stopped 1$/m);
  putRows(scene.right, scene.directory);
  await requireAllRead(scene);
});

it("a database without its write-ahead log costs none of 100 contents, few or many as it had", async () => {
  const scene = copyScene();
  rmSync(join(scene.directory, "coffer.sqlite-wal"));
  await startOnce(scene);
  expect(countContents(scene.directory)).toBe(FILES);
  putRows(scene.right, scene.directory);
  await requireAllRead(scene);
});

it("a few contents that the rows do not name lie in quarantine, and the right rows, put back, find them", async () => {
  const scene = copyScene();
  // The rows as they are, without five files.
  const database = new DatabaseSync(join(scene.directory, "coffer.sqlite"));
  database.exec("delete from files where id in (select id from files limit 5)");
  database.close();
  const { log, metrics } = await startOnce(scene);
  expect(countContents(scene.directory)).toBe(FILES);
  expect(log).toContainEqual(expect.objectContaining({ job: "sweep orphans", orphans: 5 }));
  expect(log.filter((line) => Number(line["level"]) >= 50)).toEqual([]);
  expect(metrics).toMatch(/^coffer_quarantine_contents\{reason="orphan"\} 5$/m);
  const variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: scene.directory };
  const listed = await runOperator(["quarantine", "list", "--reason", "orphan"], variables);
  expect(listed.stdout.match(/^[0-9a-f-]{36} +orphan +168 /gm)).toHaveLength(5);
  putRows(scene.right, scene.directory);
  await requireAllRead(scene);
});

/** A server on what is there, from its start to the end of its first round of jobs. */
async function startOnce({ directory }: Scene): Promise<{ log: readonly LogLine[]; metrics: string }> {
  await using server = await startServerProcess({ directory });
  await server.waitForLine((line) => line.job === "start-up");
  const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  await server.end("SIGTERM");
  return { log: server.log, metrics };
}

async function requireAllRead(scene: Scene): Promise<void> {
  await using server = await startServerProcess({ directory: scene.directory });
  await server.waitForLine((line) => line.job === "start-up");
  expect(await readAll(server, scene)).toEqual(scene.ids.map((_, at) => textOf(at)));
}

async function makeScene(): Promise<Scene> {
  const directory = makeDirectory();
  const [yesterday, right] = [makeDirectory(), makeDirectory()];
  const ids: string[] = [];
  await using server = await startServerProcess({ directory });
  const { key } = await signUp(server.baseUrl);
  for (let at = 0; at < FILES; at += 1) {
    if (at === FILES / 2) copyRows(directory, yesterday);
    ids.push(await upload(server, key, at));
  }
  await server.end("SIGKILL");
  copyRows(directory, right);
  ageContents(directory);
  return { directory, key, ids, yesterday, right };
}

async function upload(server: ServerProcess, key: string, at: number): Promise<string> {
  const answer = await fetch(`${server.baseUrl}/api/files?name=file-${String(at)}`, {
    method: "POST",
    body: textOf(at),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { file: { id: string } }).file.id;
}

async function readAll(server: ServerProcess, { key, ids }: Scene): Promise<string[]> {
  const texts: string[] = [];
  for (const id of ids) {
    const headers = { authorization: `Bearer ${key}` };
    texts.push(await (await fetch(`${server.baseUrl}/api/files/${id}/content`, { headers })).text());
  }
  return texts;
}

function removeRows(directory: string): void {
  for (const name of DATABASE) rmSync(join(directory, name), { force: true });
}

function emptyFile(directory: string): void {
  writeFileSync(join(directory, "coffer.sqlite"), "");
}

function copyRows(from: string, to: string): void {
  for (const name of readdirSync(from).filter((found) => DATABASE.includes(found)))
    cpSync(join(from, name), join(to, name));
}

function putRows(from: string, to: string): void {
  removeRows(to);
  copyRows(from, to);
}

function contentsOf(directory: string): string[] {
  const root = join(directory, "blobs", "blobs");
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function countContents(directory: string): number {
  return contentsOf(directory).length;
}

function ageContents(directory: string): void {
  const then = Date.now() / 1000 - OLD;
  for (const path of contentsOf(directory)) utimesSync(path, then, then);
}
