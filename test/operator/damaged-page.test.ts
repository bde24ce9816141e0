/** A page of the database that the disk gives back as something else, or not at all, under a running server. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess, type ServerProcess } from "../crash/server-process.ts";
import { type Answered, ask, eventually, readMetric, upload } from "./asking.ts";
import { openFaultyDisk } from "./faulty-disk.ts";

const UNAVAILABLE = { status: 503, code: "unavailable", text: '{"error":"The service is not ready"}' };
const FILES = 120;
const PAGE = 4096;
/** A leaf in the middle of each: the last one is written again with every new row, and is whole in the log then. */
const TABLES = ["files", "files_live_name", "changes", "api_keys"];

interface Scene {
  readonly directory: string;
  readonly file: string;
  readonly key: string;
}

async function prepare(): Promise<Scene> {
  const directory = makeDirectory();
  await using server = await startServerProcess({ directory });
  const { key } = await signUp(server.baseUrl);
  for (let at = 0; at < FILES; at += 1) {
    const { status } = await upload(server.baseUrl, key, `${"n".repeat(80)}-${String(at)}`, 100);
    expect(status).toBe(201);
  }
  // The end writes the log into the file.
  expect(await server.end("SIGTERM")).toBe(0);
  return { directory, file: join(directory, "coffer.sqlite"), key };
}

/** What an account asks for. Reads come again after a commit, which empties their cache of pages, and once more after what they left behind. */
async function askAll(server: ServerProcess, key: string, round: string): Promise<Answered[]> {
  const { baseUrl } = server;
  const reads = (): Promise<Answered>[] => [
    ask(baseUrl, api.files.list, { query: { limit: 1000 } }, key),
    ask(baseUrl, api.account.get, {}, key),
    ask(baseUrl, api.changes.list, { query: { limit: 100 } }, key),
  ];
  return [
    ...(await Promise.all(reads())),
    ...(await Promise.all([upload(baseUrl, key, `new-${round}`), ...reads()])),
    await ask(baseUrl, api.folders.create, { body: { name: `folder-${round}` } }, key),
    ...(await Promise.all(reads())),
  ];
}

it("a damaged page ends the requests that meet it with 503, and nothing else", async () => {
  const { directory, file, key } = await prepare();
  let met = 0;
  for (const [at, table] of TABLES.entries()) {
    const page = middleLeaf(file, table);
    await using server = await startServerProcess({ directory });
    await server.waitForLine((line) => line.job === "start-up");
    const before = damage(file, page, at);
    const answers = await askAll(server, key, table);
    expect(await ask(server.baseUrl, api.system.health, {}), table).toMatchObject({ status: 200 });
    const refused = answers.filter(({ status }) => status >= 300);
    for (const answer of refused) {
      expect(answer, table).toMatchObject(UNAVAILABLE);
      expect(Number(answer.retryAfter)).toBeGreaterThan(0);
    }
    if (refused.length > 0) {
      met += 1;
      await expectSaid(server, file);
    }
    expect(await server.end("SIGKILL")).toBeNull();
    restore(file, before);
  }
  expect(met).toBeGreaterThanOrEqual(3);
  // The pages are whole again, and so is the account.
  await using server = await startServerProcess({ directory });
  expect((await ask(server.baseUrl, api.files.list, { query: { limit: 1000 } }, key)).status).toBe(200);
});

/** Readiness, metrics and the log say it, once; the log names file, statement and what the check found first. */
async function expectSaid(server: ServerProcess, file: string): Promise<void> {
  const ready = await ask(server.baseUrl, api.system.ready, {});
  expect(ready).toMatchObject({ status: 503, code: "unavailable" });
  expect(ready.text).toContain("Damaged: the database");
  expect(await readMetric(server.baseUrl, 'coffer_storage_damaged{part="database"}')).toBe(1);
  const line = await server.waitForLine(({ event, state }) => event === "storage" && state === "damaged");
  expect(line).toMatchObject({ part: "database", file });
  expect(line["query"]).toMatch(/^(select|insert|update|delete|with|savepoint|BEGIN|COMMIT)/i);
  expect(JSON.stringify(line)).not.toContain("folder-");
  const checked = await server.waitForLine(({ event, integrity }) => event === "storage" && integrity !== undefined);
  expect((checked["integrity"] as string[]).length).toBeGreaterThan(0);
  expect(checked["integrity"]).not.toEqual(["ok"]);
  expect(server.log.filter(({ event, query }) => event === "storage" && query !== undefined)).toHaveLength(1);
}

it("a read that the disk refuses is answered with 503, and once it reads again the server is ready again", async (context) => {
  const disk = await openFaultyDisk();
  if (typeof disk === "string") return context.skip(disk);
  const { directory, key } = await prepare();
  await using server = await startServerProcess({ directory, environment: disk.environment });
  await server.waitForLine((line) => line.job === "start-up");
  disk.inject("read", "EIO", "coffer.sqlite");
  const answers = await askAll(server, key, "eio");
  expect(answers.some(({ status }) => status === 503)).toBe(true);
  for (const answer of answers.filter(({ status }) => status >= 300)) expect(answer).toMatchObject(UNAVAILABLE);
  disk.clear();
  await eventually(async () => (await ask(server.baseUrl, api.system.health, {})).status === 200);
  for (const { status } of await askAll(server, key, "again")) expect(status).toBeLessThan(300);
});

function middleLeaf(file: string, table: string): number {
  using database = new DatabaseSync(file, { readOnly: true });
  const query = database.prepare("select pageno from dbstat where name = ? and pagetype = 'leaf' order by pageno");
  const pages = query.all(table).map(({ pageno }) => Number(pageno));
  const page = pages[Math.floor(pages.length / 2)];
  if (page === undefined) throw new Error(`${table} has no page`);
  return page;
}

interface Before {
  readonly page: number;
  readonly bytes: Buffer;
}

/** Writes over the head of the page and over some of the rest; answers what was there. */
function damage(file: string, page: number, seed: number): Before {
  const bytes = Buffer.alloc(PAGE);
  const descriptor = openSync(file, "r+");
  try {
    readSync(descriptor, bytes, 0, PAGE, (page - 1) * PAGE);
    const broken = Buffer.from(bytes);
    for (let at = 0; at < 64; at += 1) broken[at] = (seed * 89 + at * 37 + 0xa7) % 256;
    for (let at = 64; at < PAGE; at += 13) broken[at] = (seed + at * 61) % 256;
    writeSync(descriptor, broken, 0, PAGE, (page - 1) * PAGE);
  } finally {
    closeSync(descriptor);
  }
  return { page, bytes };
}

function restore(file: string, { page, bytes }: Before): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, bytes, 0, PAGE, (page - 1) * PAGE);
  closeSync(descriptor);
}
