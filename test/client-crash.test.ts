/** A client that is killed in the middle of an upload, and one whose memory is watched. */
import { createClient } from "@coffer/sdk";
import { fileStore, uploadFile } from "@coffer/sdk/node";
import { parseConfig, startServer } from "@coffer/server";
import { spawn, type ChildProcess } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDirectory } from "./kit/directory.ts";

const PART = 256 * 1024;
const BYTES = randomBytes(PART * 40 + 17);

const directory = makeDirectory();
let baseUrl: string;
let apiKey: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const environment = {
    SERVICE_ENV: "development",
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: "0",
    SERVICE_LOG_LEVEL: "error",
  };
  const server = await startServer(parseConfig({ ...environment, SERVICE_DATA_DIR: join(directory, "data") }));
  ({ baseUrl } = server);
  close = () => server.close();
  ({ apiKey } = await createClient({ baseUrl }).development.signup({ email: "crash@example.com" }));
});

afterAll(async () => {
  await close();
});

/** Uploads in a process of its own, which prints a line of JSON at every step. */
function startUpload(path: string, partBytes: number): ChildProcess {
  const program = `
    import { createClient } from "@coffer/sdk";
    import { fileStore, uploadFile } from "@coffer/sdk/node";
    const [baseUrl, path, partBytes, directory] = process.argv.slice(1);
    const client = createClient({ baseUrl, credentials: { apiKey: process.env.SERVICE_API_KEY } });
    const show = (bytes) => console.log(JSON.stringify({ bytes, arrayBuffers: process.memoryUsage().arrayBuffers }));
    await uploadFile(client, path, { partBytes: Number(partBytes), store: fileStore(directory), onProgress: ({ bytes }) => show(bytes) });
  `;
  const words = ["--conditions=coffer-source", "--input-type=module", "-e", program, baseUrl, path, String(partBytes)];
  return spawn(process.execPath, [...words, join(directory, "store")], {
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"], SERVICE_API_KEY: apiKey },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function* steps({ stdout }: ChildProcess): AsyncGenerator<{ bytes: number; arrayBuffers: number }> {
  if (stdout === null) throw new Error("no output");
  for await (const line of createInterface({ input: stdout })) yield JSON.parse(line);
}

it("an upload whose process was killed is taken up by the next one", async () => {
  const path = join(directory, "killed.bin");
  await writeFile(path, BYTES);
  const child = startUpload(path, PART);
  for await (const { bytes } of steps(child)) if (bytes > PART * 15) child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  const store = fileStore(join(directory, "store"));
  expect(await store.tables("")).toEqual(["uploads"]);

  let parts = 0;
  let begun = 0;
  const client = createClient({
    baseUrl,
    credentials: { apiKey },
    middleware: [
      (request, next) => {
        if (request.method === "PATCH") parts += 1;
        if (request.method === "POST") begun += 1;
        return next(request);
      },
    ],
  });
  // The killed request may hold the session's lock until the server notices.
  const result = await uploadFile(client, path, { partBytes: PART, store });
  expect(result.sha256).toBe(createHash("sha256").update(BYTES).digest("hex"));
  expect(begun).toBe(0);
  expect(parts).toBeLessThanOrEqual(27);
  expect(await readdir(join(directory, "store"))).toEqual([]);
});

it("an upload holds one part in memory, whatever the size of the file", async () => {
  const path = join(directory, "large.bin");
  const block = randomBytes(1024 * 1024);
  await writeFile(path, Buffer.concat(Array.from({ length: 48 }, () => block)));
  const partBytes = 2 * 1024 * 1024;
  let most = 0;
  let last = 0;
  for await (const { bytes, arrayBuffers } of steps(startUpload(path, partBytes))) {
    most = Math.max(most, arrayBuffers);
    last = bytes;
  }
  expect(last).toBe(48 * 1024 * 1024);
  expect(most).toBeGreaterThanOrEqual(partBytes);
  expect(most).toBeLessThan(4 * partBytes);
});
