/** What happens to uploads when clients vanish and disks fail, over a real socket. The disk's faults come from a double. */
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { FaultyFiles } from "../../../../../test/kit/faulty-files.ts";
import { buildApp } from "../../../app.ts";
import { parseConfig } from "../../../config.ts";
import { diskFileSystem } from "../../../drivers/blobs/disk/file-system.ts";
import { openLog } from "../../../http/log.ts";
import { openMailer } from "../../../drivers/mail/open.ts";
import { openWebhookSender } from "../../../drivers/webhook-sender/undici.ts";
import { openProviders } from "../../../providers.ts";
import { systemClock } from "../../../ports/clock.ts";
import { systemRandom } from "../../../ports/random.ts";
import { openStorage } from "../../../storage.ts";
import { ofEachTest } from "../../../each.test-kit.ts";

const stack = ofEachTest(openStack);

interface Stack extends AsyncDisposable {
  readonly port: number;
  readonly files: FaultyFiles;
  readonly blobDirectory: string;
  readonly key: string;
  call(path: string, init?: RequestInit & { headers?: Record<string, string> }): Promise<Response>;
}

async function openStack(): Promise<Stack> {
  const directory = makeDirectory();
  const files = new FaultyFiles(diskFileSystem);
  const config = parseConfig({
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: directory,
    SERVICE_IDLE_TIMEOUT_SECONDS: "1",
    SERVICE_DISK_RESERVE_BYTES: "0",
  });
  const storage = await openStorage(config, { fileSystem: files });
  const { database, blobs } = storage;
  const mailer = await openMailer(config.mail, { clock: systemClock, random: systemRandom });
  const webhookSender = openWebhookSender(config.settings.webhooks);
  const deps = {
    database,
    blobs,
    mailer,
    webhookSender,
    clock: systemClock,
    random: systemRandom,
    ...openProviders(config, systemClock),
  };
  const stopping = new AbortController();
  const app = buildApp(deps, { log: openLog("silent"), readiness: { state: "ready" }, stopping: stopping.signal });
  const baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  const send = (path: string, init: RequestInit = {}) => fetch(baseUrl + path, init);
  const signup = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"email":"a@example.test"}',
  };
  const { apiKey: key } = (await (await send("/api/auth/dev-signup", signup)).json()) as { apiKey: string };
  return {
    port: Number(new URL(baseUrl).port),
    files,
    blobDirectory: `${config.dataDirectory}/blobs`,
    key,
    call: (path, init = {}) => send(path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } }),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      app.server.closeAllConnections();
      await app.close();
      await storage[Symbol.asyncDispose]();
    },
  };
}

/** Every file under the blob directory, those being written too; the store's mark and the processes' own entries aside. */
function blobFiles(): string[] {
  const found = readdirSync(stack.blobDirectory, { recursive: true, withFileTypes: true });
  const names = found
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("process"))
    .map(({ name }) => name);
  return names.filter((name) => !name.startsWith("store-mark."));
}

/** What is left once the server has noticed; fails when something stays. */
async function expectNothingLeft(): Promise<void> {
  let left: string[] = [];
  // Empty twice in a row: a refused upload's file may only be made, and then removed, after its answer.
  for (let attempt = 0, empty = 0; attempt < 200 && empty < 2; attempt += 1) {
    left = blobFiles();
    empty = left.length === 0 ? empty + 1 : 0;
    if (empty < 2) await sleep(25);
  }
  expect(left).toEqual([]);
  const { files } = (await (await stack.call("/api/files")).json()) as { files: unknown[] };
  expect(files).toEqual([]);
  const { account } = (await (await stack.call("/api/account")).json()) as { account: { usage: unknown } };
  expect(account.usage).toEqual({ bytes: 0, files: 0, versionBytes: 0 });
}

function upload(name: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const type = { "content-type": "application/octet-stream" };
  return stack.call(`/api/files?name=${name}`, { method: "POST", headers: { ...type, ...headers }, body });
}

/** A client that says how much comes and sends less. */
async function sendPart(declared: number, sent: number): Promise<Socket> {
  const socket = connect(stack.port, "127.0.0.1");
  socket.on("error", ignore);
  const head = `POST /api/files?name=part HTTP/1.1\r\nHost: 127.0.0.1:${stack.port}\r\nAuthorization: Bearer ${stack.key}\r\n`;
  socket.write(`${head}Content-Type: application/octet-stream\r\nContent-Length: ${declared}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.write(Buffer.alloc(sent), () => resolve()));
  return socket;
}

/** A connection that is cut reports errors of its own. */
function ignore(): void {}

async function answerOn(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes("\r\n\r\n")) break;
  }
  return text;
}

const MIB = 1024 * 1024;

test("a client that vanishes leaves nothing, at any of 20 offsets", async () => {
  for (let step = 0; step < 20; step += 1) {
    const socket = await sendPart(4 * MIB, Math.floor((step / 20) * 4 * MIB));
    // On odd steps the server has certainly begun to store.
    while (step % 2 === 1 && blobFiles().length === 0) await sleep(5);
    socket.destroy();
  }
  await expectNothingLeft();
});

test("a client that ends its side early is told 400, one that falls silent 408", async () => {
  const early = await sendPart(MIB, 1000);
  early.end();
  expect(await answerOn(early)).toMatch(/^HTTP\/1\.1 400 /);
  await expectNothingLeft();
  const silent = await sendPart(MIB, 1000);
  const answer = await answerOn(silent);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/x-error-code: request_timeout/i);
  await expectNothingLeft();
});

test("a wrong digest is 400 and stores nothing, for a form as for raw bytes", async () => {
  const digest = { "content-digest": `sha-256=:${Buffer.alloc(32).toString("base64")}:` };
  const raw = await upload("a", new Uint8Array(1000), digest);
  expect([raw.status, raw.headers.get("x-error-code")]).toEqual([400, "digest_mismatch"]);
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(1000)]), "b");
  const formed = await stack.call("/api/files", { method: "POST", headers: digest, body: form });
  expect([formed.status, formed.headers.get("x-error-code")]).toEqual([400, "digest_mismatch"]);
  await expectNothingLeft();
});

test("[D1-disk-full-507] a full disk is 507 with Retry-After wherever it strikes; nothing is half-stored and the service goes on", async () => {
  for (const calls of [["create"], ["write"], ["flush"], ["link"], ["flushDirectory"]] as const) {
    for (const code of ["ENOSPC", "EDQUOT"] as const) {
      stack.files.inject({ code, at: 0, calls, persistent: true });
      const answer = await upload("a", new Uint8Array(3 * MIB));
      expect([answer.status, answer.headers.get("x-error-code")], `${code} at ${calls.join()}`).toEqual([
        507,
        "disk_full",
      ]);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(stack.files.hits).toBeGreaterThan(0);
      stack.files.inject(null);
      await expectNothingLeft();
    }
  }
  expect((await upload("a", new Uint8Array(3 * MIB))).status).toBe(201);
  expect((await stack.call("/readyz")).status).toBe(200);
});

test("a part of a resumable upload that meets a full disk goes on later from what is durable", async () => {
  const tus = { "tus-resumable": "1.0.0" };
  const metadata = { "upload-metadata": `filename ${Buffer.from("a").toString("base64")}` };
  const created = await stack.call("/api/uploads", {
    method: "POST",
    headers: { ...tus, ...metadata, "upload-length": String(3 * MIB) },
  });
  const location = created.headers.get("location") ?? "";
  const patch = async (offset: number) => {
    const headers = { ...tus, "content-type": "application/offset+octet-stream", "upload-offset": String(offset) };
    return stack.call(location, { method: "PATCH", headers, body: new Uint8Array(3 * MIB - offset) });
  };
  stack.files.inject({ code: "ENOSPC", at: 1, calls: ["write"], persistent: true });
  const full = await patch(0);
  expect([full.status, full.headers.get("tus-resumable")]).toEqual([507, "1.0.0"]);
  stack.files.inject(null);
  const status = await stack.call(location, { method: "HEAD", headers: tus });
  const finished = await patch(Number(status.headers.get("upload-offset")));
  expect(finished.status).toBe(204);
  const file = await stack.call(`/api/files/${finished.headers.get("file-id") ?? ""}/content`);
  expect((await file.arrayBuffer()).byteLength).toBe(3 * MIB);
});

test("a failed flush is 503, acknowledges nothing, and takes the server out of service", async () => {
  expect((await stack.call("/readyz")).status).toBe(200);
  stack.files.inject({ code: "EIO", at: 0, calls: ["flush"] });
  const answer = await upload("a", new Uint8Array(MIB));
  expect([answer.status, await answer.json()]).toEqual([503, { error: "The service is not ready" }]);
  stack.files.inject(null);
  await expectNothingLeft();
  // A later flush would succeed although the kernel may have dropped the pages: nothing is trusted any more.
  expect((await upload("a", new Uint8Array(MIB))).status).toBe(503);
  expect((await stack.call("/readyz")).status).toBe(503);
  await expectNothingLeft();
});
