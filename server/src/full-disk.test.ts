/** A server whose disk has only its reserve left, or less: here because the reserve is larger than any disk. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeDirectory } from "../../test/kit/directory.ts";
import { parseConfig } from "./config.ts";
import { type RunningServer, startServer } from "./index.ts";

const RESERVE = String(2 ** 52);

let directory: string;
let server: RunningServer;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  directory = makeDirectory();
  lines = [];
  const sink = { write: (bytes: Uint8Array) => void lines.push(...linesIn(bytes)) };
  const environment = { SERVICE_ENV: "development", SERVICE_PORT: "0", SERVICE_DATA_DIR: directory };
  server = await startServer(parseConfig({ ...environment, SERVICE_DISK_RESERVE_BYTES: RESERVE }), { logSink: sink });
});
afterEach(() => server.close());

function linesIn(bytes: Uint8Array): Record<string, unknown>[] {
  const texts = new TextDecoder().decode(bytes).split("\n");
  return texts.filter((text) => text !== "").map((text) => JSON.parse(text) as Record<string, unknown>);
}

const ask = (path: string, init: RequestInit = {}) => fetch(`${server.baseUrl}${path}`, init);
const linesOf = (event: string) => lines.filter((line) => line["event"] === event);

async function signUp(): Promise<string> {
  const body = JSON.stringify({ email: "full@example.test" });
  const answer = await ask("/api/auth/dev-signup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return ((await answer.json()) as { apiKey: string }).apiKey;
}

it("says so in one line that names directory and setting, and not for each upload that it refuses [issue 51]", async () => {
  const key = await signUp();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" };
  for (let times = 0; times < 3; times += 1) {
    const answer = await ask("/api/files?name=large", { method: "POST", headers, body: new Uint8Array(100_000) });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([507, "disk_full"]);
    await answer.arrayBuffer();
  }
  expect(linesOf("fault")).toEqual([]);
  expect(linesOf("storage").filter((line) => line["state"] === "full")).toEqual([
    expect.objectContaining({
      level: 50,
      part: "blobs",
      place: `${directory}/blobs`,
      setting: "SERVICE_DATA_DIR",
      reserveBytes: Number(RESERVE),
      msg: `${directory}/blobs (SERVICE_DATA_DIR) has no room, but for the ${RESERVE} bytes that SERVICE_DISK_RESERVE_BYTES keeps free: writes get 507, reads and deletions go on. Free space there`,
    }),
  ]);
});

it("is ready, says that it is full, and shows its disk in metrics [issue 51]", async () => {
  const ready = await ask("/readyz");
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      status: "ready",
      detail: "Full: the blob store. Writes may get 507; reads and deletions go on, and the log names the place",
    },
  ]);
  const page = await (await ask("/metrics")).text();
  expect(page).toContain('coffer_storage_full{part="database"} 0\n');
  expect(page).toContain('coffer_storage_full{part="blobs"} 1\n');
  expect(page).toContain('coffer_storage_up{part="blobs"} 1\n');
  expect(page).toContain(`coffer_disk_reserve_bytes{part="blobs"} ${RESERVE}\n`);
  for (const part of ["database", "blobs"]) {
    const bytes = (name: string): number =>
      Number(new RegExp(`^coffer_disk_${name}_bytes\\{part="${part}"\\} (\\d+)$`, "m").exec(page)?.[1]);
    expect(bytes("free")).toBeGreaterThan(0);
    expect(bytes("size")).toBeGreaterThan(bytes("free"));
  }
});
