import { expect, it } from "vitest";
import { sampleBytes } from "../conformance/samples.ts";
import { beginUpload } from "./faults.ts";
import { signUp } from "../kit/signed-up.ts";
import { openScratchServer } from "./server-process.ts";

const UPLOADS = 32;
const BYTES = sampleBytes(200_000);

it(`finishes ${String(UPLOADS)} uploads in flight after SIGTERM, and exits with 0`, async () => {
  await using server = await openScratchServer();
  const { key } = await signUp(server.baseUrl);
  const uploads = Array.from({ length: UPLOADS }, (_, at) =>
    beginUpload(server.baseUrl, key, `in-flight-${String(at)}`, BYTES.length),
  );
  await Promise.all(
    uploads.map(({ request }) => new Promise((resolve) => request.write(BYTES.subarray(0, 100_000), resolve))),
  );
  await requestsSeen(server.baseUrl, UPLOADS);

  server.signal("SIGTERM");
  await server.waitForLine((line) => line.event === "stopping");
  for (const { request } of uploads) request.end(BYTES.subarray(100_000));

  const answers = await Promise.all(uploads.map(({ answered }) => answered));
  expect(answers.map(({ status }) => status)).toEqual(uploads.map(() => 201));
  expect(await server.exited).toBe(0);
  expect(server.log.filter((line) => Number(line.level) >= 50)).toEqual([]);
});

/** Waits until the server says that so many transfers are under way. */
async function requestsSeen(baseUrl: string, count: number): Promise<void> {
  for (;;) {
    const metrics = await (await fetch(new URL("/metrics", baseUrl))).text();
    const running = Number(/^coffer_active_transfers (\d+)$/m.exec(metrics)?.[1] ?? 0);
    if (running >= count) return;
  }
}
