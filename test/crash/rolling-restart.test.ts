/** Two processes on PostgreSQL behind the small proxy, stopped and started one after the other as in a deployment. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openProxy } from "@coffer/devstack/engines";
import { uploadFile } from "@coffer/sdk/node";
import { expect, it } from "vitest";
import { patternBytes } from "../kit/bytes.ts";
import { makeDirectory } from "../kit/directory.ts";
import { createDatabase } from "../kit/postgres/databases.ts";
import { signUp } from "../kit/signed-up.ts";
import { findSteadyPort } from "../kit/steady-port.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** Restarts of each process. */
const ROUNDS = FULL ? 5 : 1;
/** Of each kind of work that goes on meanwhile. */
const ENOUGH = 3;
/** Resumable: more than a part of the SDK. */
const LARGE = patternBytes("large", 17 * 1024 * 1024);

it("the SDK sees no error, and a feed misses no change, while each process is stopped and started again [issue-20]", async () => {
  await using place = await createDatabase("empty");
  const directory = makeDirectory();
  const start = (port: number): Promise<ServerProcess> =>
    startServerProcess({ directory, port, environment: { SERVICE_DATABASE_URL: place.url } });
  const ports = [await findSteadyPort(), await findSteadyPort()];
  const servers: ServerProcess[] = [];
  for (const port of ports) servers.push(await start(port));
  await using proxy = await openProxy(
    servers.map(({ baseUrl }) => baseUrl),
    0,
  );
  try {
    const { client } = await signUp(proxy.baseUrl);
    const large = join(directory, "large.bin");
    await writeFile(large, LARGE);
    const over = new AbortController();
    const followed: string[] = [];
    const feed = (async () => {
      for await (const event of client.events.follow({ after: 0, signal: over.signal })) followed.push(event.type);
    })().catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    let isOver = false;
    const done = { files: 0, large: 0, reads: 0 };
    const repeating = async (work: () => Promise<unknown>): Promise<void> => {
      while (!isOver) await work();
    };
    const working = Promise.all([
      repeating(async () => {
        await client.files.upload({
          name: `small-${String(done.files)}`,
          body: patternBytes(String(done.files), 1000),
        });
        done.files += 1;
      }),
      repeating(async () => {
        await uploadFile(client, large, { name: `large-${String(done.large)}` });
        done.large += 1;
      }),
      repeating(async () => {
        await client.files.list({ limit: 10 });
        done.reads += 1;
      }),
    ]);
    const restarting = (async () => {
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [at, server] of servers.entries()) {
          await pause(500);
          expect(await server.end("SIGTERM")).toBe(0);
          servers[at] = await start(server.port);
        }
      await pause(500);
      // However slow the machine is.
      while (!isOver && Object.values(done).some((count) => count < ENOUGH)) await pause(50);
    })().finally(() => (isOver = true));
    await Promise.all([working, restarting]);
    const made = done.files + done.large;
    await expect.poll(() => followed.filter((type) => type === "file.uploaded").length, { timeout: 60_000 }).toBe(made);
    over.abort();
    await feed;
    expect((await client.account.get()).account.usage.files).toBe(made);
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
}, 300_000);
