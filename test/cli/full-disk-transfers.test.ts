/** The disk fills while files come to it: what is there is whole, and the same line brings the rest once there is room. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { mountSmall, resize, unmount } from "../kit/small-disk.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

const disk = makeDirectory();
const BYTES = 300_000;
const FILES = 8;
let stage: Scene;
let shell: Shell;
let refusal: string | null;
let exported: string;

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  shell = stage.shellOf(await stage.stack.signUp("full"));
  const { home } = shell;
  const run = (words: readonly string[]) => shell.run(words);
  mkdirSync(join(home, "many"));
  for (let n = 0; n < FILES; n += 1) writeFileSync(join(home, "many", `f${String(n)}.bin`), Buffer.alloc(BYTES, n));
  writeFileSync(join(home, "large.bin"), Buffer.alloc(9 * 2 ** 20, 7));
  await run(["vaults", "create", "Open", "--public"]);
  await run(["vaults", "create", "Team", "--shared"]);
  for (const vault of ["Open", "Team"])
    expect(await run(["upload", "many", "large.bin", "--vault", vault])).toMatchObject({ code: 0 });
  exported = join(home, "team.export");
  expect(await run(["export", "Team", exported])).toMatchObject({ code: 0 });
  refusal = await mountSmall(disk, "1m");
});
afterAll(async () => {
  if (refusal === null) await unmount(disk);
  await stage.stack[Symbol.asyncDispose]();
});

/** Regular files, by their paths below the disk. */
const filesHere = (): string[] =>
  readdirSync(disk, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(disk.length + 1))
    .toSorted();

/** An empty disk with room for three of the small files, and for no large one. */
async function begin(context: TestContext): Promise<void> {
  if (refusal !== null) context.skip(`no small file system can be mounted here (${refusal})`);
  for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true });
  await resize(disk, "1m");
}

/** The error names the disk, and how far it came. */
async function expectFull(words: readonly string[], after: string): Promise<void> {
  const ran = await shell.run([...words, "--quiet"]);
  expect([words, ran.code, ran.out]).toEqual([words, 1, ""]);
  const [error, next] = ran.err.split("\n");
  expect(error).toMatch(/^error: The local file system refused: no space is left: /);
  expect([error?.includes(disk), error?.endsWith(after), next]).toEqual([
    true,
    true,
    "next: make room on that disk, then run the same command again",
  ]);
}

const VAULTS = ["Open", "Team"];

describe("a disk that fills under a transfer [issue 19]", () => {
  it.for(VAULTS)("one large file of %s: nothing is left of it", async (vault, context) => {
    await begin(context);
    for (const words of [
      ["download", `${vault}:large.bin`, disk],
      ["versions", "get", `${vault}:large.bin`, "1", disk],
    ]) {
      await expectFull(words, ".");
      expect(filesHere()).toEqual([]);
    }
    await resize(disk, "24m");
    expect(await shell.run(["download", `${vault}:large.bin`, disk])).toMatchObject({ code: 0 });
    expect(readFileSync(join(disk, "large.bin")).equals(Buffer.alloc(9 * 2 ** 20, 7))).toBe(true);
  });

  it.for(VAULTS.flatMap((vault) => [["download", vault] as const, ["sync", vault] as const]))(
    "coffer %s of a folder of %s: what fits is whole, the rest comes later",
    async ([command, vault], context) => {
      await begin(context);
      const words = [command, `${vault}:many`, join(disk, "many")];
      await expectFull(words, `, after 3 of ${String(FILES)} files.`);
      expectWhole(3);
      await resize(disk, "8m");
      const again = await shell.json(words);
      expect(again).toMatchObject({ unchanged: 3, failed: 0, bytes: 5 * BYTES });
      expectWhole(FILES);
    },
  );

  it("coffer export: what is there stays, and nothing half-written", async (context) => {
    await begin(context);
    const words = ["export", "Team", join(disk, "copy.export")];
    await expectFull(words, ".");
    expect(filesHere().filter((path) => !/\.(file|json)$/.test(path))).toEqual([]);
    await resize(disk, "24m");
    expect(await shell.run(words)).toMatchObject({ code: 0 });
    const opened = join(makeDirectory(), "opened");
    expect(await shell.json(["decrypt", join(disk, "copy.export"), opened])).toMatchObject({ decrypted: FILES + 1 });
  });

  it("coffer decrypt: what fits is whole, and a repeat leaves it as it is", async (context) => {
    await begin(context);
    const words = ["decrypt", exported, disk];
    await expectFull(words, ` of ${String(FILES + 1)} files.`);
    const before = filesHere();
    await resize(disk, "24m");
    expect(await shell.json(words)).toMatchObject({
      unchanged: before.length,
      decrypted: FILES + 1 - before.length,
      failed: 0,
    });
    expectWhole(FILES);
    writeFileSync(join(disk, "many", "f1.bin"), Buffer.alloc(BYTES, 99));
    expect(await shell.json(words)).toMatchObject({ unchanged: FILES, decrypted: 0, failed: 1 });
  });

  function expectWhole(count: number): void {
    const small = filesHere().filter((path) => path !== "large.bin");
    expect(small).toHaveLength(count);
    for (const path of small)
      expect(readFileSync(join(disk, path)).equals(Buffer.alloc(BYTES, Number(/f(\d)\.bin$/.exec(path)?.[1])))).toBe(
        true,
      );
  }
});
