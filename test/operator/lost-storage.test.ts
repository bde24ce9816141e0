/** Storage that goes away under a running server: nothing is acknowledged that is lost, and what comes back serves again. */
import { execFile } from "node:child_process";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess, type ServerProcess } from "../crash/server-process.ts";
import { ask, eventually, readMetric, upload } from "./asking.ts";
import { openFaultyDisk } from "./faulty-disk.ts";

const run = promisify(execFile);
const UNAVAILABLE = { status: 503, code: "unavailable", text: '{"error":"The service is not ready"}' };

const newFolder = ({ baseUrl }: ServerProcess, key: string, name: string) =>
  ask(baseUrl, api.folders.create, { body: { name } }, key);

const readyText = async ({ baseUrl }: ServerProcess): Promise<string> =>
  (await ask(baseUrl, api.system.ready, {})).text;

async function foldersOf({ baseUrl }: ServerProcess, key: string): Promise<string[]> {
  const { text } = await ask(baseUrl, api.folders.list, { query: { limit: 1000 } }, key);
  return (JSON.parse(text) as { folders: { name: string }[] }).folders.map(({ name }) => name).sort();
}

it("a data directory that was moved away takes no writes, and serves again once it is back", async () => {
  const parent = makeDirectory();
  const directory = join(parent, "data");
  mkdirSync(directory);
  await using server = await startServerProcess({ directory });
  const { key } = await signUp(server.baseUrl);
  expect((await newFolder(server, key, "before")).status).toBe(201);
  renameSync(directory, join(parent, "elsewhere"));
  for (const name of ["one", "two"]) expect(await newFolder(server, key, name)).toMatchObject(UNAVAILABLE);
  expect(await upload(server.baseUrl, key, "three")).toMatchObject(UNAVAILABLE);
  expect(await readyText(server)).toMatch(/Away: .*the database/);
  expect(await readMetric(server.baseUrl, 'coffer_storage_up{part="database"}')).toBe(0);
  // What is committed can still be read, and the log has one line for it, not one for each request.
  expect(await foldersOf(server, key)).toEqual(["before"]);
  const lines = server.log.filter(
    ({ event, part, state }) => event === "storage" && part === "database" && state === "away",
  );
  expect(lines).toHaveLength(1);

  renameSync(join(parent, "elsewhere"), directory);
  expect((await newFolder(server, key, "after")).status).toBe(201);
  expect((await upload(server.baseUrl, key, "content")).status).toBe(201);
  await eventually(async () => (await readyText(server)).includes("ready"));
  expect(await foldersOf(server, key)).toEqual(["after", "before"]);
  expect(await server.end("SIGKILL")).toBeNull();
  await using again = await startServerProcess({ directory });
  expect(await foldersOf(again, key)).toEqual(["after", "before"]);
});

it("another directory in its place takes no writes either, however long it lies there", async () => {
  const parent = makeDirectory();
  const directory = join(parent, "data");
  mkdirSync(directory);
  await using server = await startServerProcess({ directory });
  const { key } = await signUp(server.baseUrl);
  rmSync(directory, { recursive: true });
  await using other = await startServerProcess({ directory });
  expect((await ask(other.baseUrl, api.system.ready, {})).status).toBe(200);
  expect(await newFolder(server, key, "lost")).toMatchObject(UNAVAILABLE);
  expect(await readyText(server)).toContain("Away: ");
  expect((await ask(server.baseUrl, api.system.health, {})).status).toBe(200);
});

it("a removed write-ahead log takes no commits along", async () => {
  const directory = makeDirectory();
  await using server = await startServerProcess({ directory });
  const { key } = await signUp(server.baseUrl);
  expect((await newFolder(server, key, "before")).status).toBe(201);
  rmSync(join(directory, "coffer.sqlite-wal"));
  expect(await newFolder(server, key, "lost")).toMatchObject(UNAVAILABLE);
  // The process that has the log open writes it into the file when it ends in good order.
  expect(await server.end("SIGTERM")).toBe(0);
  await using again = await startServerProcess({ directory });
  expect(await foldersOf(again, key)).toEqual(["before"]);
});

it("contents on a file system that turned read-only are refused with 503, named by readiness, and heal", async (context) => {
  const directory = makeDirectory();
  const refusal = await run("unshare", ["--mount", "true"]).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (refusal !== null) return context.skip(`no mount namespace can be made here (${refusal})`);
  await using server = await startServerProcess({ directory, through: ["unshare", "--mount"] });
  const { key } = await signUp(server.baseUrl);
  expect((await upload(server.baseUrl, key, "before")).status).toBe(201);
  const blobs = join(directory, "blobs");
  const mount = (...words: string[]) =>
    run("nsenter", ["--target", String(server.pid), "--mount", "mount", ...words, blobs]);
  await mount("--bind", blobs);
  await mount("-o", "remount,bind,ro");
  expect(await upload(server.baseUrl, key, "refused")).toMatchObject(UNAVAILABLE);
  await eventually(async () => (await readyText(server)).includes("Away: the blob store"));
  expect(await readMetric(server.baseUrl, 'coffer_storage_up{part="blobs"}')).toBe(0);
  expect((await newFolder(server, key, "rows are elsewhere")).status).toBe(201);

  await mount("-o", "remount,bind,rw");
  expect((await upload(server.baseUrl, key, "after")).status).toBe(201);
  await eventually(async () => (await readyText(server)).includes("ready"));
  expect(server.log.filter(({ event, state }) => event === "storage" && state === "back")).toHaveLength(1);
});

it("a database on a file system that turned read-only refuses writes with 503, and heals", async (context) => {
  const disk = await openFaultyDisk();
  if (typeof disk === "string") return context.skip(disk);
  const directory = makeDirectory();
  await using server = await startServerProcess({ directory, environment: disk.environment });
  const { key } = await signUp(server.baseUrl);
  disk.inject("write", "EROFS", "coffer.sqlite");
  expect(await newFolder(server, key, "refused")).toMatchObject(UNAVAILABLE);
  await eventually(async () => (await readyText(server)).includes("Away: the database"));
  disk.clear();
  expect((await newFolder(server, key, "after")).status).toBe(201);
  await eventually(async () => (await readyText(server)).includes("ready"));
  expect(await foldersOf(server, key)).toEqual(["after"]);
});
