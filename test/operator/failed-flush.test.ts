/** fsync fails once: nothing is acknowledged any more, the log says so once, and the process ends for another one. */
import { api } from "@coffer/contract";
import { it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { signUp } from "../kit/signed-up.ts";
import { startServerProcess } from "../crash/server-process.ts";
import { ask, eventually, readMetric, upload } from "./asking.ts";
import { openFaultyDisk } from "./faulty-disk.ts";

const UNAVAILABLE = { status: 503, code: "unavailable", text: '{"error":"The service is not ready"}' };
/** BSD sysexits, EX_IOERR: systemd and Kubernetes start another process. */
const EX_IOERR = 74;

const STORES = [
  { part: "blobs", path: "/blobs/", name: "the blob store" },
  { part: "database", path: "coffer.sqlite", name: "the database" },
];

for (const { part, path, name } of STORES)
  it.concurrent(`after a failed flush of ${name} all writes get 503, and a minute later the process ends`, async ({
    expect,
    skip,
  }) => {
    const disk = await openFaultyDisk();
    if (typeof disk === "string") return skip(disk);
    const directory = makeDirectory();
    await using server = await startServerProcess({ directory, environment: disk.environment });
    const { key } = await signUp(server.baseUrl);
    expect((await upload(server.baseUrl, key, "before")).status).toBe(201);
    disk.inject("fsync", "EIO", path);
    const first = await upload(server.baseUrl, key, "first");
    disk.clear();
    expect(first).toMatchObject(UNAVAILABLE);
    const later = await Promise.all(
      Array.from({ length: 50 }, (_, at) => upload(server.baseUrl, key, `later-${String(at)}`)),
    );
    for (const answer of later) {
      expect(answer).toMatchObject(UNAVAILABLE);
      expect(Number(answer.retryAfter)).toBeGreaterThan(0);
    }
    expect((await ask(server.baseUrl, api.files.list, { query: {} }, key)).status).toBe(200);
    expect((await ask(server.baseUrl, api.system.ready, {})).text).toContain(`Stopped: ${name}`);
    expect(await readMetric(server.baseUrl, `coffer_storage_up{part="${part}"}`)).toBe(0);
    // Nothing is wrong with the process yet, for those who would restart it at once.
    expect((await ask(server.baseUrl, api.system.health, {})).status).toBe(200);
    await server.waitForLine(({ event, state }) => event === "storage" && state === "stopped");
    expect(server.log.filter(({ event }) => event === "storage" || event === "fault")).toHaveLength(1);

    let isAlive = true;
    void server.exited.then(() => (isAlive = false));
    const fails = eventually(async () => {
      const health = await ask(server.baseUrl, api.system.health, {}).catch(() => null);
      return !isAlive || health?.status !== 200;
    });
    expect(await server.exited).toBe(EX_IOERR);
    await fails;
    await using again = await startServerProcess({ directory });
    expect((await upload(again.baseUrl, key, "after")).status).toBe(201);
    expect((await ask(again.baseUrl, api.files.list, { query: {} }, key)).text).toContain('"before"');
  });
