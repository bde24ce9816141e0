/** `move` as an operator runs it, on real engines, with real servers before and after. Deep: see DEEP in vitest.config.ts. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { patternBytes } from "../../../test/kit/bytes.ts";
import { cephStore, skipWithoutCeph } from "../../../test/kit/ceph/store.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { startServerProcess } from "../../../test/crash/server-process.ts";
import { SERVER_MAIN } from "../../../test/kit/server-program.ts";

const CONTENTS = [0, 5_000, 12 * 1024 * 1024 + 5].map((size, at) => patternBytes(`moved ${String(at)}`, size));

type Settings = Readonly<Record<string, string>>;

async function run(
  settings: Settings,
  ...words: string[]
): Promise<{ code: number | null; out: string; said: string }> {
  const child = spawn(process.execPath, [SERVER_MAIN, ...words], {
    env: { PATH: process.env["PATH"], SERVICE_ENV: "development", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { out: "", said: "" };
  child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text.said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...text };
}

function settingsFile(settings: Settings): string {
  const path = join(makeDirectory(), "settings.env");
  const all = { SERVICE_ENV: "development", ...settings };
  writeFileSync(
    path,
    Object.entries(all)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  return path;
}

const serverOn = ({ SERVICE_DATA_DIR: directory = "", ...environment }: Settings) =>
  startServerProcess({ directory, environment });

async function fill(settings: Settings): Promise<{ key: string; ids: string[] }> {
  await using server = await serverOn(settings);
  const sent = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"email":"moved@example.test"}',
  };
  const { apiKey: key } = (await (await fetch(`${server.baseUrl}/api/auth/dev-signup`, sent)).json()) as {
    apiKey: string;
  };
  const ids: string[] = [];
  for (const [at, body] of CONTENTS.entries()) {
    const answer = await fetch(`${server.baseUrl}/api/files?name=moved-${String(at)}`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
    });
    ids.push(((await answer.json()) as { file: { id: string } }).file.id);
  }
  await server.end("SIGTERM");
  return { key, ids };
}

async function requireServed(settings: Settings, { key, ids }: { key: string; ids: readonly string[] }): Promise<void> {
  await using server = await serverOn(settings);
  const headers = { authorization: `Bearer ${key}` };
  for (const [at, id] of ids.entries()) {
    const answer = await fetch(`${server.baseUrl}/api/files/${id}/content`, { headers });
    expect(Buffer.from(await answer.arrayBuffer()).equals(CONTENTS[at] ?? Buffer.alloc(0))).toBe(true);
  }
  const found = await fetch(`${server.baseUrl}/api/files/search?q=moved`, { headers });
  expect(((await found.json()) as { files: unknown[] }).files).toHaveLength(ids.length);
  await server.end("SIGTERM");
}

/** A disk of its own, where this user may mount one; else the directory alone. */
function smallDisk(): string {
  const directory = makeDirectory();
  if (process.getuid?.() !== 0) return directory;
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0700", "tmpfs", directory]);
  onTestFinished(() => void execFileSync("umount", ["--lazy", directory]));
  return directory;
}

/** Nine tenths of it are taken. */
function fillUp(directory: string): void {
  const { blocks, bfree, bsize } = statfsSync(directory);
  execFileSync("fallocate", [
    "--length",
    String((bfree - Math.floor(blocks / 10)) * bsize),
    join(directory, "other-data"),
  ]);
}

describe("moving from SQLite and disk to PostgreSQL and S3, and back", () => {
  beforeEach(skipWithoutCeph);

  it("brings everything over, and the storage that was left serves nobody", async () => {
    await using database = await createDatabase("empty");
    const { endpoint, bucket, prefix, accessKeyId, secretAccessKey } = await cephStore();
    const disk = smallDisk();
    const small: Settings = { SERVICE_DATA_DIR: disk, SERVICE_DISK_RESERVE_BYTES: "1048576" };
    const large: Settings = {
      SERVICE_DATA_DIR: makeDirectory(),
      SERVICE_DATABASE_URL: database.url,
      SERVICE_BLOBS_URL: `${endpoint}/${bucket}/${prefix}`,
      SERVICE_BLOBS_ACCESS_KEY_ID: accessKeyId,
      SERVICE_BLOBS_SECRET_ACCESS_KEY: secretAccessKey,
    };
    const filled = await fill(small);
    if (process.getuid?.() === 0) fillUp(disk);

    const tried = await run(small, "move", "--to", settingsFile(large), "--dry-run");
    expect([tried.code, tried.out]).toEqual([0, expect.stringContaining("files: 3")]);
    expect(tried.said).not.toContain(secretAccessKey);
    await requireServed(small, filled);

    const nowhere = settingsFile({ ...large, SERVICE_BLOBS_URL: `${endpoint}/nobody-made-this/${prefix}` });
    for (const words of [["--dry-run"], []]) {
      const refused = await run(small, "move", "--to", nowhere, ...words);
      expect([refused.code, refused.said]).toEqual([
        1,
        expect.stringContaining(
          `There is no bucket nobody-made-this at ${endpoint}: make it first, for instance by aws s3 mb`,
        ),
      ]);
    }

    const moved = await run(small, "move", "--to", settingsFile(large));
    expect([moved.code, moved.said]).toEqual([0, expect.stringContaining("3 contents are whole")]);
    expect(moved.said).not.toContain(secretAccessKey);
    await requireServed(large, filled);
    await expect(serverOn(small)).rejects.toThrow("The data moved to");
    expect(await run(small, "move", "--to", settingsFile(large))).toMatchObject({ code: 1 });

    const back: Settings = { SERVICE_DATA_DIR: makeDirectory() };
    const returned = await run({}, "move", "--from", settingsFile(large), "--to", settingsFile(back));
    expect([returned.code, returned.said]).toEqual([0, expect.stringContaining("done: ")]);
    await requireServed(back, filled);
    await expect(serverOn(large)).rejects.toThrow("The data moved to");
  });
});
