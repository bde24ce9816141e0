/** A server that is killed while one account's large act is written: whoever looks sees the folder before or after, never between. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ServerProcess, startServerProcess } from "../crash/server-process.ts";

const FILES = 6_000;

interface Owner {
  readonly key: string;
  readonly folderId: string;
}

async function ask(server: ServerProcess, method: string, path: string, more: { key?: string; json?: object } = {}) {
  const headers: Record<string, string> = more.key === undefined ? {} : { authorization: `Bearer ${more.key}` };
  if (more.json !== undefined) headers["content-type"] = "application/json";
  const body = more.json === undefined ? null : JSON.stringify(more.json);
  const response = await fetch(`${server.baseUrl}${path}`, { method, headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** A folder with one file. */
async function open(server: ServerProcess): Promise<Owner> {
  const { body: made } = await ask(server, "POST", "/api/auth/dev-signup", { json: { email: "a@example.test" } });
  const key = String(made["apiKey"]);
  const { body } = await ask(server, "POST", "/api/folders", { key, json: { name: "large" } });
  const folderId = (body["folder"] as { id: string }).id;
  const upload = `${server.baseUrl}/api/files?name=first&folderId=${folderId}`;
  const { status } = await fetch(upload, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: "1" });
  expect(status).toBe(201);
  return { key, folderId };
}

/** Copies the row of the one file: nobody reads the bytes of the copies. */
function fill(path: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  const names = database
    .prepare("select name from pragma_table_info('files')")
    .all()
    .map(({ name }) => String(name));
  const made: Record<string, string> = {
    id: "printf('%08x-0000-4000-8000-%012x', i, i)",
    blob_key: "'blob ' || i",
    name: "'copy ' || i",
    search_id: "null",
    search_waits: "null",
  };
  const values = names.map((name) => made[name] ?? `"${name}"`).join();
  database.exec(`insert into files (${names.join()}) select ${values} from files, (
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${FILES - 1}) select i from n)`);
}

/** What lies in the folder and outside the trash, and in the trash: the first page of each, in one read. */
async function seen(server: ServerProcess, { key, folderId }: Owner): Promise<string> {
  const count = async (query: string) => {
    const { body } = await ask(server, "GET", `/api/files?limit=1000&${query}`, { key });
    return (body["files"] as unknown[]).length;
  };
  const live = [await count(""), await count(`folderId=${folderId}`), await count("name=copy%207")];
  const trashed = [await count("trashed=true"), await count(`folderId=${folderId}&trashed=true`)];
  return [...live, ...trashed].join();
}

const isUnderWay = (path: string): boolean => {
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare("select 1 from tree_acts").get() !== undefined;
};

test("[issue 47] a folder of many files goes to the trash and comes back as one, whenever the server is killed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-large-acts-"));
  const path = join(directory, "coffer.sqlite");
  try {
    let server = await startServerProcess({ directory });
    const owner = await open(server);
    await server.end("SIGTERM");
    fill(path);
    const folder = `/api/folders/${owner.folderId}`;
    const acts = [
      { method: "DELETE", path: folder, view: "0,0,0,1000,1000" },
      { method: "POST", path: `${folder}/restore`, view: "1000,1000,1,0,0" },
    ];
    for (const act of acts) {
      server = await startServerProcess({ directory });
      expect((await ask(server, act.method, act.path, { key: owner.key })).status).toBe(200);
      let kills = 0;
      for (const wait of [0, 20, 60, 100, 150, 200]) {
        await pause(wait);
        await server.end("SIGKILL");
        if (!isUnderWay(path)) break;
        kills += 1;
        server = await startServerProcess({ directory });
        expect(await seen(server, owner)).toBe(act.view);
      }
      expect(kills).toBeGreaterThan(0);
      await server.end("SIGKILL");
      await using last = await startServerProcess({ directory });
      for (let turn = 0; turn < 200 && isUnderWay(path); turn += 1) await pause(50);
      expect(isUnderWay(path)).toBe(false);
      expect(await seen(last, owner)).toBe(act.view);
      await last.end("SIGTERM");
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);
