import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { api } from "@coffer/contract";
import { expect, it } from "vitest";
import { receive } from "../conformance/judge.ts";
import { sameBytes, sampleBytes } from "../conformance/samples.ts";
import { runOperator } from "../journeys/kit/operator.ts";
import { renderRequest } from "../conformance/wire.ts";
import { signUp } from "../kit/signed-up.ts";
import { mountSmall, unmount } from "../kit/small-disk.ts";
import { countFiles, inspectData } from "./inspect.ts";
import { startServerProcess } from "./server-process.ts";

const SIZE_MIB = 48;
const BYTES = sampleBytes(3_000_000);

it("answers 507 on a full disk, keeps what it has, and deletes [D1-disk-full-507]", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "coffer-full-"));
  const refusal = await mountSmall(directory, `${String(SIZE_MIB)}m`);
  if (refusal !== null) {
    await rm(directory, { recursive: true });
    context.skip(`no small file system can be mounted here (${refusal}); the blob store's suite simulates a full one`);
  }
  try {
    await fillAndEmpty(directory);
  } finally {
    await unmount(directory);
    await rm(directory, { recursive: true });
  }
});

async function fillAndEmpty(directory: string): Promise<void> {
  await using server = await startServerProcess({ directory, environment: { SERVICE_DISK_RESERVE_BYTES: "0" } });
  const { baseUrl } = server;
  const { key } = await signUp(baseUrl);
  const ids: string[] = [];
  // Ever smaller, so that at last the database finds no room either.
  for (const size of [BYTES.length, 100_000, 5_000]) ids.push(...(await uploadUntilFull(baseUrl, key, size)));
  expect(ids.length).toBeGreaterThan(2);
  expect(await countFiles(directory)).toBe(ids.length);
  expect(await inspectData(directory)).toEqual([]);

  const [first = "", ...others] = ids;
  const input = { params: { fileId: first } };
  const read = await receive(await fetch(renderRequest(baseUrl, api.files.content, input, { key })));
  expect(sameBytes(read.body, BYTES)).toBe(true);
  for (const fileId of others) {
    const remove = { params: { fileId }, query: { permanent: true } };
    expect((await fetch(renderRequest(baseUrl, api.files.delete, remove, { key }))).status).toBe(204);
  }
  const ready = (await (await fetch(`${baseUrl}/readyz`)).json()) as { detail?: string };
  expect(ready).toMatchObject({ status: "ready", detail: expect.stringContaining("Full: ") as string });
  expect(await server.end("SIGTERM")).toBe(0);
  requireOneLineEach(server.log, directory);
  await serveAgain(directory, key);
}

/** However many uploads were refused, each part says once that it is full, and where [issue 51]. */
function requireOneLineEach(log: readonly Readonly<Record<string, unknown>>[], directory: string): void {
  const full = log.filter(({ event, state }) => event === "storage" && state === "full");
  expect(full.length).toBeGreaterThan(0);
  expect(new Set(full.map(({ part }) => part)).size).toBe(full.length);
  for (const { msg } of full)
    expect(msg).toMatch(new RegExp(`^${directory}(/blobs)? \\(SERVICE_DATA_DIR\\) has no room: writes get 507`));
  expect(log.filter(({ event }) => event === "fault")).toEqual([]);
}

/** Answers the ids of what fitted; holds the first refusal to the contract. */
async function uploadUntilFull(baseUrl: string, key: string, size: number): Promise<string[]> {
  const body = BYTES.subarray(0, size);
  const ids: string[] = [];
  for (;;) {
    const query = { name: `${String(size)}-${String(ids.length)}` };
    const answer = await fetch(renderRequest(baseUrl, api.files.upload, { query, headers: {}, body }, { key }));
    const value = (await answer.json()) as { file: { id: string } };
    if (answer.status === 201) {
      ids.push(value.file.id);
      continue;
    }
    expect(answer.status).toBe(507);
    expect(answer.headers.get("x-error-code")).toBe("disk_full");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Object.keys(value)).toEqual(["error"]);
    return ids;
  }
}

/**
 * Deleted bytes wait for their last readers; once that time is over (here: at once) they go into quarantine. An operator frees the space
 * before their day is over, beside the server and on the disk that is still full.
 */
async function serveAgain(directory: string, key: string): Promise<void> {
  const database = new DatabaseSync(join(directory, "coffer.sqlite"));
  database.exec("update blob_deletions set not_before = 0");
  database.close();
  const settings = { SERVICE_DISK_RESERVE_BYTES: "0" };
  await using server = await startServerProcess({ directory, environment: settings });
  await server.waitForLine((line) => line.job === "start-up");
  const variables = { SERVICE_ENV: "development", SERVICE_DATA_DIR: directory, ...settings };
  expect((await runOperator(["quarantine", "purge", "--all"], variables)).code).toBe(1);
  const purged = await runOperator(["quarantine", "purge", "--all", "--yes"], variables);
  expect([purged.code, purged.stderr]).toEqual([0, expect.stringMatching(/^Deleted [1-9]\d* contents/)]);
  expect((await runOperator(["audit", "verify"], variables)).code).toBe(0);
  const input = { query: { name: "again" }, headers: {}, body: BYTES };
  expect((await fetch(renderRequest(server.baseUrl, api.files.upload, input, { key }))).status).toBe(201);
  expect(await inspectData(directory)).toEqual([]);
}
