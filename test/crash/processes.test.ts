/** Resumable uploads through several server processes on one data directory (docs/decisions/0031-leases.md). */
import { createHash } from "node:crypto";
import { request, type ClientRequest } from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { patternBytes } from "../kit/bytes.ts";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess, type ServerProcess } from "./server-process.ts";

const MIB = 1024 * 1024;
const TUS = { "tus-resumable": "1.0.0" };

let directory: string;
let servers: ServerProcess[];
let key: string;
beforeEach(async () => {
  directory = makeDirectory();
  servers = [await startServerProcess({ directory })];
  servers.push(await startServerProcess({ directory }));
  ({ key } = await signUp(at(0).baseUrl));
});
afterEach(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

function at(index: number): ServerProcess {
  const server = servers[index];
  if (server === undefined) throw new Error(`there is no server ${String(index)}`);
  return server;
}

const authorized = () => ({ ...TUS, authorization: `Bearer ${key}` });

async function create(name: string, length: number): Promise<string> {
  const metadata = `filename ${Buffer.from(name).toString("base64")}`;
  const headers = { ...authorized(), "upload-length": String(length), "upload-metadata": metadata };
  const answer = await fetch(new URL("/api/uploads", at(0).baseUrl), { method: "POST", headers });
  expect(answer.status).toBe(201);
  return answer.headers.get("location") ?? "";
}

interface Patch {
  readonly request: ClientRequest;
  /** null: cut off without an answer. */
  readonly status: Promise<number | null>;
}

/** Declares `length` bytes and sends none of them yet. */
function beginPatch(server: ServerProcess, path: string, offset: number, length: number): Patch {
  const sent = request(new URL(path, server.baseUrl), {
    method: "PATCH",
    agent: false,
    headers: {
      ...authorized(),
      "upload-offset": offset,
      "content-length": length,
      "content-type": "application/offset+octet-stream",
    },
  });
  const status = once(sent, "response").then(
    ([message]: { statusCode: number; resume(): void }[]) => {
      message?.resume();
      return message?.statusCode ?? null;
    },
    () => null,
  );
  sent.flushHeaders();
  return { request: sent, status };
}

function sendPatch(server: ServerProcess, path: string, offset: number, bytes: Uint8Array): Promise<number | null> {
  const patch = beginPatch(server, path, offset, bytes.length);
  patch.request.on("error", () => undefined).end(bytes);
  return patch.status;
}

async function readOffset(server: ServerProcess, path: string): Promise<number> {
  const answer = await fetch(new URL(path, server.baseUrl), { method: "HEAD", headers: authorized() });
  return answer.status === 200 ? Number(answer.headers.get("upload-offset")) : -1;
}

/** Begins a part and waits until the server has written the first of it. */
async function stallPatch(server: ServerProcess, path: string, bytes: Uint8Array, sent: number): Promise<Patch> {
  const patch = beginPatch(server, path, 0, bytes.length);
  patch.request.on("error", () => undefined).write(bytes.subarray(0, sent));
  while (!(await holdsLease(path))) await pause(10);
  return patch;
}

/** What an ordinary client does: asks where the upload stands, sends the rest, waits while somebody else writes. */
async function finish(server: () => ServerProcess, path: string, bytes: Uint8Array): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(25)) {
    const offset = await readOffset(server(), path).catch(() => -1);
    if (offset === bytes.length) return;
    if (offset >= 0)
      await sendPatch(server(), path, offset, bytes.subarray(offset, offset + Math.min(MIB, bytes.length)));
  }
  throw new Error("the upload did not end");
}

async function expectServed(path: string, server: ServerProcess, bytes: Uint8Array): Promise<void> {
  const head = await fetch(new URL(path, server.baseUrl), { method: "HEAD", headers: authorized() });
  const file = `/api/files/${head.headers.get("file-id") ?? ""}`;
  const { file: metadata } = (await (await fetch(new URL(file, server.baseUrl), { headers: authorized() })).json()) as {
    file: { sha256: string };
  };
  const served = await (await fetch(new URL(`${file}/content`, server.baseUrl), { headers: authorized() })).bytes();
  const digests = { acknowledged: metadata.sha256, served: sha256(served) };
  expect(digests).toEqual({ acknowledged: sha256(bytes), served: sha256(bytes) });
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function onDatabase<Result>(work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(join(directory, "coffer.sqlite"), { timeout: 5_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const leaseOf = (path: string) => `upload:${path.replace("/api/uploads/", "")}`;

const holdsLease = (path: string): Promise<boolean> =>
  Promise.resolve(
    onDatabase(
      (database) =>
        database.prepare("SELECT 1 FROM leases WHERE name = ? AND holder IS NOT NULL").get(leaseOf(path)) !== undefined,
    ),
  );

/** As if the holder had not renewed it for its time. */
function expireLease(path: string): void {
  onDatabase((database) =>
    database.prepare("UPDATE leases SET until = until - 60000 WHERE name = ?").run(leaseOf(path)),
  );
}

describe("two processes", () => {
  it("write to an upload one at a time, and serve what they acknowledged", async () => {
    const [first, second] = [patternBytes("first", 4 * MIB), patternBytes("second", 4 * MIB)];
    const path = await create("attack", 4 * MIB);
    const held = await stallPatch(at(0), path, first, 2 * MIB);
    expect.soft(await sendPatch(at(1), path, 0, second)).toBe(423);
    held.request.end(first.subarray(2 * MIB));
    expect.soft(await held.status).toBe(204);
    await expectServed(path, at(1), first);
  });

  it("go on with an upload that a client was cut off from, through the other process", async () => {
    for (let round = 0; round < 8; round += 1) {
      const bytes = patternBytes(`retry ${String(round)}`, 3 * MIB);
      const path = await create(`retry-${String(round)}`, bytes.length);
      const cut = await stallPatch(at(round % 2), path, bytes, MIB + round * 1_000);
      const retried = finish(() => at((round + 1) % 2), path, bytes);
      await pause(30);
      cut.request.destroy();
      await retried;
      await expectServed(path, at(0), bytes);
    }
  });

  it("take over from one that was killed, once its time is over", async () => {
    const bytes = patternBytes("killed", 3 * MIB);
    const path = await create("killed", bytes.length);
    await stallPatch(at(0), path, bytes, 2 * MIB);
    await at(0).end("SIGKILL");
    expect(await sendPatch(at(1), path, await readOffset(at(1), path), bytes)).toBe(423);
    expireLease(path);
    await finish(() => at(1), path, bytes);
    await expectServed(path, at(1), bytes);
  });

  it("shut out one that stood still: what it writes later is neither acknowledged nor served", async () => {
    const [stale, bytes] = [patternBytes("stale", 3 * MIB), patternBytes("right", 3 * MIB)];
    const path = await create("stalled", bytes.length);
    const held = await stallPatch(at(0), path, stale, 65_536);
    process.kill(at(0).pid, "SIGSTOP");
    try {
      expireLease(path);
      // The stalled one has acknowledged nothing, so its bytes may be kept or not: the new writer asks.
      const offset = await readOffset(at(1), path);
      const right = Buffer.concat([stale.subarray(0, offset), bytes.subarray(offset)]);
      expect(await sendPatch(at(1), path, offset, right.subarray(offset, 2 * MIB))).toBe(204);
      process.kill(at(0).pid, "SIGCONT");
      held.request.end(stale.subarray(65_536));
      expect(await held.status).toBe(423);
      await finish(() => at(1), path, right);
      await expectServed(path, at(1), right);
      await expectServed(path, at(0), right);
    } finally {
      process.kill(at(0).pid, "SIGCONT");
    }
  });

  it("one that begins alone takes up at once what a killed one held", async () => {
    const bytes = patternBytes("alone", 3 * MIB);
    const path = await create("alone", bytes.length);
    await stallPatch(at(0), path, bytes, 2 * MIB);
    for (const server of servers) await server.end("SIGKILL");
    servers = [await startServerProcess({ directory })];
    const offset = await readOffset(at(0), path);
    expect(await sendPatch(at(0), path, offset, bytes.subarray(offset))).toBe(204);
    await expectServed(path, at(0), bytes);
  });
});

it("one process of two runs the jobs, and the other one once that has ended", async () => {
  const rounds = () =>
    servers.map(({ log }) => log.filter((line) => line.job === "start-up" && line.event === "job").length);
  await at(0).waitForLine((line) => line.job === "start-up");
  // Longer than the other one waits before it asks again.
  await pause(6_000);
  expect(rounds()).toEqual([1, 0]);
  await at(0).end("SIGKILL");
  onDatabase((database) => database.exec("UPDATE leases SET until = until - 60000 WHERE name = 'jobs'"));
  await at(1).waitForLine((line) => line.job === "start-up");
  servers.push(await startServerProcess({ directory }));
  expect(await at(1).end("SIGTERM")).toBe(0);
  await at(2).waitForLine((line) => line.job === "start-up");
});

it("five processes take the parts of ten uploads from clients that are cut off and go to another one", async () => {
  while (servers.length < 5) servers.push(await startServerProcess({ directory }));
  const uploads = Array.from({ length: 10 }, async (_, index) => {
    const bytes = patternBytes(`five ${String(index)}`, 2 * MIB);
    const path = await create(`five-${String(index)}`, bytes.length);
    for (let turn = 0; turn < 4; turn += 1) {
      const server = at((index + turn) % 5);
      const offset = await readOffset(server, path);
      const cut = beginPatch(server, path, Math.max(0, offset), bytes.length - Math.max(0, offset));
      cut.request.on("error", () => undefined).write(bytes.subarray(Math.max(0, offset), offset + 200_000));
      await pause(20);
      cut.request.destroy();
    }
    let turn = index;
    await finish(() => at((turn += 1) % 5), path, bytes);
    await expectServed(path, at(index % 5), bytes);
  });
  await Promise.all(uploads);
});
