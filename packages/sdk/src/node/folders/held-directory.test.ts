import { closeSync, constants, mkdirSync, openSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../../../test/kit/directory.ts";
import { realDirectory } from "./held-directory.ts";

it("follows links to the directory, and names where that lies", async () => {
  const base = makeDirectory();
  mkdirSync(join(base, "there"));
  symlinkSync("there", join(base, "link"));
  expect(await realDirectory(join(base, "link"))).toBe(join(base, "there"));
  await expect(realDirectory(join(base, "absent"))).rejects.toMatchObject({ code: "ENOENT" });
});

it("an open directory whose name becomes a link is never taken for what the link leads to", async (context) => {
  context.skip(process.platform !== "linux", "only Linux has /proc/self/fd");
  const base = makeDirectory();
  const [place, outside] = [join(base, "root", "box"), join(base, "outside")];
  for (const each of [place, outside]) mkdirSync(each, { recursive: true });
  const ended = new SharedArrayBuffer(4);
  const worker = new Worker(new URL("../../../../../test/kit/exchanger.mjs", import.meta.url), {
    workerData: { place, away: `${place}-away`, outside, ended },
    execArgv: [],
  });
  const turns = new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  const found = new Map<string, number>();
  try {
    // `realpath` met the moment once in some thousand tries.
    for (let tries = 0; tries < 5_000;) {
      const way = openOrNull(place);
      if (way === null) continue;
      tries += 1;
      const real = await realDirectory(`/proc/self/fd/${String(way)}`);
      found.set(real, (found.get(real) ?? 0) + 1);
      closeSync(way);
    }
  } finally {
    Atomics.store(new Int32Array(ended), 0, 1);
  }
  expect(await turns).toBeGreaterThan(10);
  expect([...found.keys()].toSorted()).toEqual([place, `${place}-away`]);
});

/** null: the name is a link just now, or nothing. */
function openOrNull(place: string): number | null {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
}
