import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { describe, expect, it } from "vitest";
import { collect, inChunks, patternBytes } from "../../../../test/kit/bytes.ts";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { openMemoryBlobs, openTestDatabase } from "../../storage.test-kit.ts";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { systemRandom } from "../../ports/random.ts";
import { systemClock } from "../../ports/clock.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Database } from "../../ports/database.ts";
import { renderMark } from "../pairing/mark.ts";
import { findDoubt, readMark, requirePair } from "../pairing/pairing.ts";
import { listContents } from "./blobs.ts";
import { cancelMove, MoveError, moveAll, type Side } from "./moving.ts";
import { digestRows } from "./rows-store.ts";
import { findMove, requireHere } from "./state.ts";
import { LEFT_BEHIND, MOVED } from "./tables.ts";

const CONTENTS = [0, 1, 5_000, 300_000].map((size, at) => patternBytes(`moved ${String(at)}`, size));

/** An account with files, versions, folders, a key, a webhook, things in the trash. */
async function fill(test: TestApp): Promise<{ key: string; ids: string[] }> {
  const { key } = await test.signUp();
  const vaultId = await test.newVault(key, "Moved");
  const folder = await test.ask("POST", "/api/folders", { key, json: { vaultId, name: "Folder" } });
  const parentId = (folder.body["folder"] as { id: string }).id;
  await test.ask("POST", "/api/folders", { key, json: { vaultId, name: "Below", parentId } });
  await test.newKey(key, { scopes: ["files:read"] });
  const ids: string[] = [];
  for (const [at, bytes] of CONTENTS.entries()) {
    const url = `/api/files?name=moved-${String(at)}&vaultId=${vaultId}${at % 2 === 0 ? `&folderId=${parentId}` : ""}`;
    const answer = await test.app.inject({
      method: "POST",
      url,
      payload: bytes,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
    });
    ids.push((JSON.parse(answer.payload) as { file: { id: string } }).file.id);
  }
  await test.app.inject({
    method: "PUT",
    url: `/api/files/${String(ids[1])}/content`,
    payload: Buffer.from("replaced"),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
  });
  await test.ask("DELETE", `/api/files/${String(ids[0])}`, { key });
  return { key, ids };
}

async function openTarget(): Promise<Side & AsyncDisposable> {
  const database = await openTestDatabase(makeDirectory());
  return {
    database,
    blobs: openMemoryBlobs(),
    place: "the new storage",
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** The names of all tables that there are. */
async function listTables(database: Database): Promise<string[]> {
  const build = database.build as unknown as Any;
  const query =
    database.capabilities.dialect === "postgres"
      ? build.selectFrom("pg_tables").select("tablename as name").where("schemaname", "=", "public")
      : build.selectFrom("sqlite_master").select("name").where("type", "=", "table");
  return (await database.all<{ name: string }>(query)).map(({ name }) => name);
}

const tools = { clock: systemClock, random: systemRandom, say: () => undefined, sharesBlobs: false, patience: 0 };
const sideOf = ({ deps }: TestApp): Side => ({ database: deps.database, blobs: deps.blobs, place: "the old storage" });

describe("moving all data", () => {
  it("covers every table: each moves, or is named with those that stay", async () => {
    await using database = await openTestDatabase(makeDirectory());
    const tables = (await listTables(database)).map((name) => name.replace(/^file_terms_.*/, "file_terms"));
    const known = [...MOVED.map(({ name }) => name as string), ...LEFT_BEHIND];
    expect([...new Set(tables)].filter((name) => !name.startsWith("sqlite_")).toSorted()).toEqual(known.toSorted());
  });

  it("brings rows and bytes over, and the new storage serves what the old one did", async () => {
    await using test = await openTestApp();
    const { key, ids } = await fill(test);
    await using to = await openTarget();
    const moved = await moveAll({ ...tools, from: sideOf(test), to });
    expect(moved.contents).toBe(5);
    for (const table of MOVED)
      expect(await digestRows(to.database, table)).toEqual(await digestRows(test.deps.database, table));
    for await (const { blob_key: blobKey, size } of listContents(test.deps.database))
      expect((await collect(await to.blobs.open(blobKey))).length).toBe(size);
    await expect(requireHere(test.deps.database)).rejects.toThrow("The data moved to the new storage");
    await requireHere(to.database);
    await using served = await openTestApp({ replace: () => ({ database: to.database, blobs: to.blobs }) });
    const found = await served.ask("GET", `/api/files/search?q=moved`, { key });
    expect((found.body["files"] as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      "moved-1",
      "moved-2",
      "moved-3",
    ]);
    const bytes = await served.app.inject({
      method: "GET",
      url: `/api/files/${String(ids[3])}/content`,
      headers: { authorization: `Bearer ${key}` },
    });
    expect(Buffer.compare(bytes.rawPayload, CONTENTS[3] ?? Buffer.alloc(0))).toBe(0);
  });

  it("goes on where it was broken off, at any content or table", async () => {
    await using test = await openTestApp();
    await fill(test);
    await using to = await openTarget();
    let puts = 0;
    const breaking = (after: number): BlobStore => breakingAfter(to.blobs, () => (puts += 1) > after);
    for (const after of [0, 2]) {
      puts = 0;
      const broken = { ...to, blobs: breaking(after) };
      await expect(moveAll({ ...tools, from: sideOf(test), to: broken })).rejects.toThrow("broken off");
      await expect(requireHere(test.deps.database)).rejects.toThrow("are moving to");
      await expect(requireHere(to.database)).rejects.toThrow("not complete");
    }
    const lines: string[] = [];
    const say = (line: string): void => {
      lines.push(line);
      if (line.startsWith("files:") && lines.length < 8) throw new Error("broken off in the rows");
    };
    await expect(moveAll({ ...tools, from: sideOf(test), to, say })).rejects.toThrow("in the rows");
    expect((await moveAll({ ...tools, from: sideOf(test), to })).contents).toBe(5);
    await requireHere(to.database);
  });

  it("refuses a content that is not what its row says, and a new storage with data of its own", async () => {
    await using test = await openTestApp();
    await fill(test);
    await using to = await openTarget();
    const [content] = await all(listContents(test.deps.database));
    const lying = { ...sideOf(test), blobs: lyingAbout(test.deps.blobs, content?.blob_key ?? "") };
    await expect(moveAll({ ...tools, from: lying, to })).rejects.toThrow("is not what its row says");
    expect(await to.blobs.open(content?.blob_key ?? "")).toBeNull();
    expect(await cancelMove(test.deps)).toBe(true);
    await requireHere(test.deps.database);
    await using other = await openTestApp();
    await fill(other);
    await expect(moveAll({ ...tools, from: sideOf(test), to: sideOf(other) })).rejects.toThrow("data of its own");
  });

  it("gives the new pair an id of its own, and the rows that stay behind are another's there", async () => {
    await using test = await openTestApp();
    await fill(test);
    const places = { rows: "the rows", contents: "the store" };
    const pairing = ({ database, blobs }: Pick<Side, "database" | "blobs">) => ({ ...tools, database, blobs, places });
    await requirePair(pairing(test.deps));
    const old = await readMark(test.deps.blobs);
    await using to = await openTarget();
    await moveAll({ ...tools, from: sideOf(test), to });
    const own = await readMark(to.blobs);
    expect(own?.storeId).not.toBe(old?.storeId);
    await requirePair(pairing(to));
    expect(await findDoubt(pairing(to))).toBeNull();
    expect(await readMark(test.deps.blobs)).toEqual(old);
    await expect(requirePair(pairing({ ...to, database: test.deps.database }))).rejects.toThrow("another database");

    await using rows = await openTarget();
    const shared = { ...rows, blobs: to.blobs };
    await moveAll({ ...tools, from: to, to: shared, sharesBlobs: true });
    expect((await readMark(to.blobs))?.storeId).not.toBe(own?.storeId);
    await requirePair(pairing(shared));
    expect(await findDoubt(pairing(shared))).toBeNull();
    await expect(requirePair(pairing(to))).rejects.toThrow("another database");
  });

  it("refuses a store that has contents, or is another database's", async () => {
    await using test = await openTestApp();
    await fill(test);
    await using to = await openTarget();
    await to.blobs.put("content-of-another", inChunks(Buffer.from("content")));
    await expect(moveAll({ ...tools, from: sideOf(test), to })).rejects.toThrow("has contents of its own");
    await using marked = await openTarget();
    await marked.blobs.replaceMark(null, renderMark({ storeId: "s", token: "t", renewedAt: 1, contested: false }));
    await expect(moveAll({ ...tools, from: sideOf(test), to: marked })).rejects.toThrow("has contents of its own");
    expect(await findMove(test.deps.database)).toBeNull();
  });

  it("waits for no server: one that runs has to be stopped first", async () => {
    await using test = await openTestApp();
    await using to = await openTarget();
    await test.deps.database.run(
      test.deps.database.build
        .insertInto("leases")
        .values({ name: "jobs", holder: randomUUID(), fence: 1, taken_over: 0, until: Date.now() + 30_000 }),
    );
    await expect(moveAll({ ...tools, from: sideOf(test), to })).rejects.toThrow(MoveError);
    expect(await findMove(test.deps.database)).toBeNull();
  });
});

type Any = Kysely<Record<string, Record<string, unknown>>>;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function breakingAfter(store: BlobStore, isBroken: () => boolean): BlobStore {
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...words: unknown[]) => {
        if (name === "put" && isBroken()) return Promise.reject(new Error("broken off"));
        return Reflect.apply(value, target, words) as unknown;
      };
    },
  });
}

function lyingAbout(store: BlobStore, key: string): BlobStore {
  const open: BlobStore["open"] = async (asked, range) => {
    if (asked !== key || range !== undefined) return store.open(asked, range);
    return (async function* () {
      yield await Promise.resolve(Buffer.from("something else"));
    })();
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "open") return open;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
