/**
 * Backups by the tools of the engines, as docs/guides/storage.md says it: copied while the service writes, and restored where everything
 * else is gone. Deep: see DEEP in vitest.config.ts.
 */
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { patternBytes } from "../../../test/kit/bytes.ts";
import { cephStore, skipWithoutCeph } from "../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { findSystemPostgres, openCluster, skipWithout, whyNoBackupTools } from "../../../test/kit/engines.ts";
import { type ServerProcess, startServerProcess } from "../../../test/crash/server-process.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const execute = promisify(execFile);

type Settings = Readonly<Record<string, string>>;

/** Where a service keeps everything, and an operator's tools for it. */
interface Kept {
  readonly settings: Settings;
  backUpRows(): Promise<void>;
  backUpContents(): Promise<void>;
  destroy(): Promise<void>;
  /** The settings of the service on what was restored. */
  restore(): Promise<Settings>;
}

const WRITERS = 4;
/** What is acknowledged before the backup begins, and again after it has ended. */
const FILES = 24;
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
      await expect.poll(() => acknowledged.size, { timeout: 60_000 }).toBeGreaterThanOrEqual(enough);
    },
    async stop() {
      stopping = true;
      await Promise.all(writers);
    },
  };
}

async function backUpAndRestore(kept: Kept): Promise<void> {
  const serve = ({ SERVICE_DATA_DIR: directory = "", ...environment }: Settings) =>
    startServerProcess({ directory, environment });
  let work: Work;
  let promised: Map<string, string>;
  {
    await using server = await serve(kept.settings);
    work = await startWork(server);
    await work.more(FILES);
    promised = new Map(work.acknowledged);
    await kept.backUpRows();
    await kept.backUpContents();
    await work.more(FILES);
    await server.end("SIGKILL");
    await work.stop();
  }
  await kept.destroy();
  const settings = await kept.restore();
  await using server = await serve(settings);
  for (const [name, id] of promised) {
    const answer = await ask(server, work.key, "GET", `/api/files/${id}/content`);
    expect([name, answer.status]).toEqual([name, 200]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(hash("sha256", bytes, "hex"), name).toBe(hash("sha256", contentOf(name), "hex"));
  }
  // What was acknowledged between both copies is whole, too, or not there at all.
  for (const [name, id] of work.acknowledged) {
    const answer = await ask(server, work.key, "GET", `/api/files/${id}/content`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 404) expect([name, bytes.equals(contentOf(name))]).toEqual([name, true]);
  }
  expect((await ask(server, work.key, "POST", "/api/files?name=later", Buffer.from("later"))).status).toBe(201);
  const found = (await (await ask(server, work.key, "GET", "/api/files/search?q=file")).json()) as { files: unknown[] };
  expect(found.files.length).toBeGreaterThan(0);
  await server.waitForLine((line) => line.job === "start-up");
  expect(server.log.filter((line) => line["msg"] === "files without content")).toEqual([]);
  await server.end("SIGTERM");
  const environment = { PATH: process.env["PATH"], SERVICE_ENV: "development", ...settings };
  const verify = [...["--conditions=coffer-source", MAIN], ...["audit", "verify"]];
  await execute(process.execPath, verify, { env: environment });
}

it("SQLite and disk come back from a copy of the file and of the directory", async () => {
  const [directory, copy, fresh] = [makeDirectory(), makeDirectory(), makeDirectory()];
  await backUpAndRestore({
    settings: { SERVICE_DATA_DIR: directory },
    async backUpRows() {
      const program = `import { backup, DatabaseSync } from "node:sqlite";
        await backup(new DatabaseSync(process.argv[1]), process.argv[2], { rate: 2 ** 31 - 1 });`;
      const places = [join(directory, "coffer.sqlite"), join(copy, "coffer.sqlite")];
      await execute(process.execPath, ["--input-type=module", "--eval", program, ...places]);
    },
    async backUpContents() {
      await execute("cp", ["-R", join(directory, "blobs", "blobs"), join(copy, "blobs")]);
    },
    async destroy() {
      rmSync(directory, { recursive: true, force: true });
    },
    async restore() {
      cpSync(join(copy, "coffer.sqlite"), join(fresh, "coffer.sqlite"));
      mkdirSync(join(fresh, "blobs"));
      cpSync(join(copy, "blobs"), join(fresh, "blobs", "blobs"), { recursive: true });
      return { SERVICE_DATA_DIR: fresh };
    },
  });
});

describe("PostgreSQL and S3", () => {
  it("come back from pg_dump and a copy of the prefix", async (context) => {
    skipWithoutCeph(context);
    skipWithout(whyNoBackupTools(), context);
    const { endpoint, bucket, prefix, accessKeyId, secretAccessKey } = await cephStore();
    const bin = findSystemPostgres() ?? "";
    await using cluster = await openCluster({ bin });
    const copy = makeDirectory();
    await cluster.run("CREATE DATABASE service");
    const settings = {
      SERVICE_DATA_DIR: makeDirectory(),
      SERVICE_DATABASE_URL: cluster.urlOf("service"),
      SERVICE_BLOBS_URL: `${endpoint}/${bucket}/${prefix}`,
      SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId,
      SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey,
    };
    const store = {
      PATH: process.env["PATH"],
      HOME: copy,
      RCLONE_CONFIG_STORE_TYPE: "s3",
      RCLONE_CONFIG_STORE_PROVIDER: "Ceph",
      RCLONE_CONFIG_STORE_ENDPOINT: endpoint,
      RCLONE_CONFIG_STORE_ACCESS_KEY_ID: accessKeyId,
      RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY: secretAccessKey,
      RCLONE_S3_NO_CHECK_BUCKET: "true",
    };
    const rclone = (...words: string[]) => execute("rclone", words, { env: store });
    const [objects, dump] = [`store:${bucket}/${prefix}`, join(copy, "rows.dump")];
    await backUpAndRestore({
      settings,
      async backUpRows() {
        const words = ["--format=custom", `--file=${dump}`, `--dbname=${settings.SERVICE_DATABASE_URL}`];
        await execute(join(bin, "pg_dump"), words);
      },
      async backUpContents() {
        await rclone("copy", objects, join(copy, "contents"));
      },
      async destroy() {
        await cluster.run("DROP DATABASE service WITH (FORCE)");
        await rclone("delete", objects);
        expect((await rclone("lsf", "-R", "--files-only", objects)).stdout).toBe("");
      },
      async restore() {
        await cluster.run("CREATE DATABASE restored");
        await execute(join(bin, "pg_restore"), ["--no-owner", `--dbname=${cluster.urlOf("restored")}`, dump]);
        await rclone("copy", join(copy, "contents"), objects);
        return { ...settings, SERVICE_DATA_DIR: makeDirectory(), SERVICE_DATABASE_URL: cluster.urlOf("restored") };
      },
    });
  });
});
