/** `npm start` on a data directory of which a part is lost. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@coffer/sdk";
import { startStack } from "@coffer/devstack";
import { afterEach, beforeEach, expect, it } from "vitest";

const START = fileURLToPath(new URL("../packages/devstack/src/start.ts", import.meta.url));

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "start-lost-"));
});
afterEach(() => rm(base, { recursive: true }));

it("says what to do when the chain is gone and the service's data is there, without a stack", async () => {
  const [data, folder] = [join(base, "data"), join(base, "files")];
  await mkdir(folder);
  await writeFile(join(folder, "a.txt"), "a");
  {
    await using stack = await startStack({ dataDirectory: data });
    const { baseUrl, apiKey, sharedVaults } = stack;
    await createClient({ baseUrl, credentials: { apiKey }, sharedVaults }).vaults.create({
      ...{ name: "npm start", type: "shared" },
    });
  }
  await rm(join(data, "localnet"), { recursive: true });
  const { code, stdout, stderr } = await start(["--once", "--port", "0", "--data", data, "--folder", folder]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/no such vault object .*\(vault_not_found\)\. .*another directory with --data\.$/m);
  expect(stderr).not.toContain("    at ");
});

async function start(args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, ["--conditions=coffer-source", START, ...args]);
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => (printed[name] += chunk.toString()));
  const [code] = (await once(child, "close")) as [unknown];
  return { code, ...printed };
}
