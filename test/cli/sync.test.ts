/** `coffer sync`, against one stack with a public vault. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startStack } from "@coffer/devstack";
import { createClient } from "@coffer/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { coffer, type Ran } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";

const stack = await startStack();
afterAll(() => stack.close());
const { apiKey, baseUrl } = stack;
const [home, work, vault] = [makeDirectory(), makeDirectory(), "Open"];

const run = (words: readonly string[]): Promise<Ran> =>
  coffer(words, home, { workingDirectory: work, env: { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey } });
const json = async (words: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await run([...words, "--json"])).out) as Record<string, unknown>;

beforeAll(async () => {
  await createClient({ baseUrl, credentials: { apiKey } }).vaults.create({ name: vault, type: "public" });
});

it("syncs either way: plan, changes, deletions only when asked", async () => {
  const site = join(work, `site-${vault}`);
  mkdirSync(site);
  for (const name of ["a", "b", "c"]) writeFileSync(join(site, name), name);
  const [up, down] = [
    ["sync", site, `${vault}:site`],
    ["sync", `${vault}:site`, `mirror-${vault}`],
  ];
  expect(await json([...up, "--dry-run"])).toMatchObject({ dryRun: true, created: 3, plan: { create: 3 } });
  expect(await json(up)).toMatchObject({ created: 3, failed: 0 });
  expect(await json(down)).toMatchObject({ created: 3, failed: 0 });
  rmSync(join(site, "c"));
  expect(await json(up)).toMatchObject({ removed: 0, unchanged: 2 });
  expect(await json([...up, "--delete", "--dry-run"])).toMatchObject({ removed: 1 });
  expect((await run(["cat", `${vault}:site/c`])).out).toBe("c");
  expect(await json([...up, "--delete"])).toMatchObject({ removed: 1, plan: { remove: 1 } });
  expect((await run(["cat", `${vault}:site/c`])).code).toBe(3);
  const mirrored = join(work, `mirror-${vault}`, "c");
  expect(await json(down)).toMatchObject({ removed: 0, unchanged: 2 });
  expect(await json([...down, "--delete", "--dry-run"])).toMatchObject({ removed: 1, plan: { remove: 1 } });
  expect(existsSync(mirrored)).toBe(true);
  expect(await json([...down, "--delete"])).toMatchObject({ removed: 1, failed: 0 });
  expect(existsSync(mirrored)).toBe(false);
  const restore = ["sync", "--restore", `mirror-${vault}`];
  expect(await json([...restore, "--dry-run"])).toMatchObject({ restored: 1, exists: 0, dryRun: true });
  expect((await run(restore)).out).toMatch(/^restored: c \(removed 20.*\)\nrestored 1, left 0, failed 0\n$/);
  expect(readFileSync(mirrored, "utf8")).toBe("c");
  expect(await json([...restore, "--since", "1h"])).toMatchObject({ restored: 0, files: [] });
});

it("syncs nothing that looks as if most were deleted, without the number", async () => {
  const site = join(work, `most-${vault}`);
  mkdirSync(site);
  for (const name of ["a", "b", "c"]) writeFileSync(join(site, name), name);
  const up = ["sync", site, `${vault}:most`, "--delete"];
  expect(await json(up)).toMatchObject({ created: 3 });
  for (const name of ["a", "b"]) rmSync(join(site, name));
  const stopped = await run(up);
  expect(stopped.code).toBe(7);
  expect(stopped.err).toContain("It would remove 2 of 3 files of the vault");
  expect(stopped.err).toContain("--max-delete");
  expect((await run([...up, "--max-delete", "1"])).code).toBe(7);
  expect(await json([...up, "--dry-run"])).toMatchObject({ removed: 2 });
  expect(await json([...up, "--max-delete", "2"])).toMatchObject({ removed: 2 });
  for (const words of [["a", "V:b", "--restore"], ["--restore", "a", "--delete"], ["a"], ["a", "V:b", "--since", "1d"]])
    expect((await run(["sync", ...words])).code, words.join(" ")).toBe(2);
});

it("does what deploy/coffer-sync.service runs each hour [issue 51]", async () => {
  const unit = readFileSync(new URL("../../deploy/coffer-sync.service", import.meta.url), "utf8");
  const words = /^ExecStart=\/usr\/local\/bin\/coffer (.+)$/m.exec(unit)?.[1]?.split(" ") ?? [];
  await createClient({ baseUrl, credentials: { apiKey } }).vaults.create({ name: "Backups", type: "public" });
  mkdirSync(join(home, "Documents"));
  const line = words.map((word) => word.replace("%h", home));
  writeFileSync(join(home, "Documents", "letter.txt"), "first");
  expect(await run(line)).toMatchObject({ code: 0, err: "" });
  writeFileSync(join(home, "Documents", "letter.txt"), "second");
  expect((await run(line)).code).toBe(0);
  expect((await run(["cat", "Backups:Documents/letter.txt"])).out).toBe("second");
});
