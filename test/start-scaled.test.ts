/** `npm start -- --scale`: the main job on PostgreSQL, a real S3 store and two server processes. */
import { afterEach, expect, it } from "vitest";
import { skipWithoutCeph } from "./kit/ceph/store.ts";
import { makeDirectory } from "./kit/directory.ts";
import { makeFolder, nodeStart, npmStart, stopAll } from "./kit/npm-start.ts";

afterEach(stopAll);

it("does the main job, and every byte comes back", async (context) => {
  skipWithoutCeph(context);
  const folder = await makeFolder(makeDirectory(), { "a.txt": "a", "sub/b.bin": new Uint8Array(3_000_000).fill(7) });
  const run = npmStart(["--scale", "--once", "--json", "--port", "0", "--folder", folder]);
  expect(await run.ended, run.stderr).toBe(0);
  const { job } = JSON.parse(run.stdout) as { job: object };
  expect(job).toMatchObject({ files: 2, verified: 2, ok: true });
}, 300_000);

it("names what to install where there is no store", async () => {
  const run = nodeStart(["--scale", "--once", "--port", "0"], { PATH: "/nowhere" });
  expect(await run.ended).toBe(1);
  expect(run.stderr).toContain("--scale needs an S3 store");
  expect(run.stderr).toContain("npm run scale:setup");
});

it("takes no data directory, since it keeps nothing", async () => {
  const run = nodeStart(["--scale", "--data", "/nowhere"], {});
  expect(await run.ended).toBe(2);
  expect(run.stderr).toContain("takes no --data");
});
