/** `npm start`, ended in the middle of its job. */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "./kit/directory.ts";
import { answers, makeFolder, nodeStart, npmStart, stopAll, until, type Run } from "./kit/npm-start.ts";

let base: string;

beforeEach(async () => {
  base = makeDirectory();
});

afterEach(async () => {
  await stopAll();
});

const many = Object.fromEntries(
  Array.from({ length: 200 }, (_, number) => [`f${String(number).padStart(3, "0")}`, `content ${String(number)}`]),
);

function flags(): string[] {
  return ["--json", "--port", "0", "--data", join(base, "data")];
}

it("SIGTERM in the middle of the job ends everything", async () => {
  const folder = await makeFolder(base, many);
  const run = npmStart([...flags(), "--folder", folder]);
  await until(run, "uploading");
  const baseUrl = /ready at (\S+);/.exec(run.stderr)?.[1] ?? "";
  await run.stop();
  expect(run.stdout).toBe("");
  expect(await answers(baseUrl)).toBe(false);
});

describe("leaves no copy of a file behind", () => {
  const scratches = async (): Promise<string[]> =>
    (await readdir(join(base, "tmp"))).filter((name) => name.startsWith("coffer-scratch-"));

  async function uploading(): Promise<Run> {
    await mkdir(join(base, "tmp"));
    const args = [...flags(), "--folder", await makeFolder(base, many)];
    const run = nodeStart(args, { TMPDIR: join(base, "tmp") });
    await until(run, "uploading");
    expect(await scratches()).toHaveLength(1);
    return run;
  }

  it("when a second signal ends it at once", async () => {
    const run = await uploading();
    run.child.kill("SIGINT");
    await until(run, "stopping");
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(await scratches()).toEqual([]);
  });

  it("when its terminal is closed, which is said twice: it takes no more words, and ends in order", async () => {
    const run = await uploading();
    run.child.stdout?.destroy();
    run.child.stderr?.destroy();
    run.child.kill("SIGHUP");
    setTimeout(() => run.child.kill("SIGHUP"), 20);
    expect(await run.ended).toBe(130);
    expect(await scratches()).toEqual([]);
    // The database was closed.
    expect(await readdir(join(base, "data"))).not.toContain("coffer.sqlite-wal");
  });
});
