/** Clients that are killed in the middle of a whole folder: the same call finishes what they began. */
import { createClient, type Client } from "@coffer/sdk";
import { downloadFolder, fileStore, uploadFolder } from "@coffer/sdk/node";
import { parseConfig, startServer } from "@coffer/server";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeDirectory } from "./kit/directory.ts";

const FILES = 160;
const LARGE = 17 * 1024 * 1024;

const directory = makeDirectory();
const root = join(directory, "root");
let baseUrl: string;
let apiKey: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const environment = { SERVICE_ENV: "development", SERVICE_HOST: "127.0.0.1", SERVICE_PORT: "0" };
  const data = { SERVICE_LOG_LEVEL: "error", SERVICE_DATA_DIR: join(directory, "data") };
  const server = await startServer(parseConfig({ ...environment, ...data }));
  ({ baseUrl } = server);
  close = () => server.close();
  ({ apiKey } = await createClient({ baseUrl }).development.signup({ email: "folders@example.com" }));
  for (let at = 0; at < FILES; at += 1) {
    const folder = join(root, String(at % 8));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${String(at)}.txt`), `file ${String(at)}`);
  }
  await writeFile(join(root, "large.bin"), Buffer.alloc(LARGE, 7));
});

afterAll(() => close());

/** Kills the call in a process of its own as soon as so many files are done. */
async function killAt(done: number, call: string, place: string, vaultId: string, stored: string): Promise<void> {
  const program = `
    import { createClient } from "@coffer/sdk";
    import * as node from "@coffer/sdk/node";
    const [baseUrl, call, place, vaultId, directory] = process.argv.slice(1);
    const client = createClient({ baseUrl, credentials: { apiKey: process.env.SERVICE_API_KEY } });
    const store = node.fileStore(directory);
    await node[call](client, place, { vaultId, store, onProgress: ({ files }) => console.log(files) });
  `;
  const words = ["--conditions=coffer-source", "--input-type=module", "-e", program, baseUrl, call, place];
  const child = spawn(process.execPath, [...words, vaultId, stored], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"], SERVICE_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) if (Number(line) >= done) child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
}

/** A client and the number of files that its uploads and downloads moved. */
function counting() {
  const moved = { posts: 0, contents: 0 };
  const client = createClient({
    baseUrl,
    credentials: { apiKey },
    middleware: [
      (request, next) => {
        if (request.method === "POST") moved.posts += 1;
        if (request.url.endsWith("/content")) moved.contents += 1;
        return next(request);
      },
    ],
  });
  return { client, moved };
}

/** The service still stores what a client sent before it was killed. A call that lists the vault before that gets `name_exists`. */
async function settled(client: Client, vaultId: string): Promise<void> {
  const count = async (): Promise<number> => (await client.files.list({ vaultId, limit: 1000 })).files.length;
  for (let [before, now] = [-1, await count()]; before !== now;) {
    await pause(1_000);
    [before, now] = [now, await count()];
  }
}

async function read(place: string): Promise<Map<string, number>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => [file.slice(place.length), (await readFile(file)).length]));
  return new Map(sizes.sort() as [string, number][]);
}

test.each([0, 40, 110, FILES])(
  "an upload and a download that were killed after %i files are finished",
  async (done) => {
    const { client, moved } = counting();
    const { id: vaultId } = await client.vaults.create({ name: `killed ${String(done)}`, type: "public" });
    const stored = join(directory, `store-${String(done)}`);
    const options = { vaultId, store: fileStore(stored) };
    await killAt(done, "uploadFolder", root, vaultId, stored);
    await settled(client, vaultId);
    moved.posts = 0;
    const sent = await uploadFolder(client, root, options);
    expect([sent.failed, sent.files.length]).toEqual([[], FILES + 1]);
    // The rest, and not one more: what was stored is not sent again.
    expect(sent.plan.create).toBeLessThanOrEqual(FILES + 1 - done);
    expect(moved.posts).toBeLessThanOrEqual(sent.plan.create + sent.plan.folders + 1);
    expect((await client.files.list({ vaultId, limit: 1000 })).files).toHaveLength(FILES + 1);
    expect((await uploadFolder(client, root, options)).plan).toMatchObject({ create: 0, unchanged: FILES + 1 });

    const copy = join(directory, `copy-${String(done)}`);
    await killAt(done, "downloadFolder", copy, vaultId, stored);
    moved.contents = 0;
    const got = await downloadFolder(client, copy, options);
    expect(got.failed).toEqual([]);
    expect(moved.contents).toBeLessThanOrEqual(FILES + 1 - done);
    expect(await read(copy)).toEqual(await read(root));
  },
);
