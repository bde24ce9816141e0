/** `npm start` on a data directory of which a part is lost. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@coffer/sdk";
import { startStack } from "@coffer/devstack";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makeDirectory } from "./kit/directory.ts";
import { makeFolder, nodeStart, stopAll } from "./kit/npm-start.ts";

let base: string;
beforeEach(async () => {
  base = makeDirectory();
});
afterEach(async () => {
  await stopAll();
});

it("says what to do when the chain is gone and the service's data is there, without a stack", async () => {
  const data = join(base, "data");
  const folder = await makeFolder(base, { "a.txt": "a" });
  {
    await using stack = await startStack({ dataDirectory: data });
    const { baseUrl, apiKey, sharedVaults } = stack;
    await createClient({ baseUrl, credentials: { apiKey }, sharedVaults }).vaults.create({
      name: "npm start",
      type: "shared",
    });
  }
  await rm(join(data, "localnet"), { recursive: true });
  const run = nodeStart(["--once", "--port", "0", "--data", data, "--folder", folder], {});
  expect([await run.ended, run.stdout]).toEqual([1, ""]);
  const { stderr } = run;
  expect(stderr).toMatch(/no such vault object .*\(vault_not_found\)\. .*another directory with --data\.$/m);
  expect(stderr).not.toContain("    at ");
});
