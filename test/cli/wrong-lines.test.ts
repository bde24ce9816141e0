/** Lines about transfers that cannot be meant. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Ran } from "../kit/coffer.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

let stage: Scene;
let shell: Shell;
const run = (words: readonly string[]): Promise<Ran> => shell.run(words);

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  shell = stage.shellOf(await stage.stack.signUp("wrong"));
  await run(["vaults", "create", "Open", "--public"]);
  await run(["vaults", "create", "Team", "--shared"]);
});
afterAll(() => stage.stack[Symbol.asyncDispose]());

it("lines that cannot be meant say what is wrong, and what to name instead [issue 19]", async () => {
  writeFileSync(join(shell.home, "plain.txt"), "x");
  mkdirSync(join(shell.home, "ten"));
  await run(["folders", "create", "Open:twice"]);
  await run(["upload", "plain.txt", "--name", "twice", "--vault", "Open"]);
  const lines: readonly (readonly [string, number, string, string])[] = [
    ["stat Open:twice", 2, "Several match", "name the one you mean by its id"],
    ["sync Open: plain.txt", 1, "The destination is no folder", "name another path"],
    ["sync nowhere Open:", 3, "There is no such local folder: ", "name another path"],
    ["export Team plain.txt", 1, "The destination is no folder", "name another destination"],
    ["decrypt ten out", 3, "There is no finished export in ", "name the folder that coffer export made"],
    ["decrypt nowhere out", 3, "There is no such folder: ", "name the folder that coffer export made"],
    ["changes --by nobody", 3, "There is no such key or invite: nobody", "coffer agents list"],
    ["agents rewind nobody --since 1h", 3, "Not found: nobody", "coffer agents list"],
  ];
  for (const [line, code, error, next] of lines) {
    const ran = await run(line.split(" "));
    expect([line, ran.code, ran.err]).toEqual([line, code, expect.stringContaining(`error: ${error}`)]);
    expect([line, ran.err.split("\n")[1]]).toEqual([line, `next: ${next}`]);
  }
});
