/** What people meet in their first days, and what it says to them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ran, Situation } from "../kit/coffer.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

let stage: Scene;
let shell: Shell;
const run = (words: readonly string[], situation?: Situation): Promise<Ran> => shell.run(words, situation);
const json = (words: readonly string[]): Promise<Record<string, unknown>> => shell.json(words);
const put = (name: string, text: string): void => {
  writeFileSync(join(shell.home, name), text);
};

beforeAll(async () => {
  stage = await openScene(await openSharedStack());
  shell = stage.shellOf(await stage.stack.signUp("first-days"));
  await run(["vaults", "create", "Open", "--public"]);
  await run(["vaults", "create", "Team", "--shared"]);
  put("one.txt", "one");
  await run(["upload", "one.txt", "--vault", "Open"]);
  await run(["upload", "one.txt", "--vault", "Team"]);
});
afterAll(() => stage.stack[Symbol.asyncDispose]());

it("two syncs of the same places at once: one is told that the other works there, and may repeat it", async () => {
  mkdirSync(join(shell.home, "site"));
  for (let at = 0; at < 30; at += 1) put(join("site", `f${String(at)}`), String(at));
  const both = await Promise.all([1, 2].map(() => run(["sync", "site", "Open:site", "--json"])));
  const locked = both.filter(({ code }) => code !== 0);
  expect(locked).toMatchObject([{ code: 8 }]);
  expect(JSON.parse(locked[0]?.out ?? "")).toMatchObject({ error: { code: "locked", retryable: true } });
});

describe("names", () => {
  it("that look the same as one that is there are told, and never taken for it", async () => {
    put("Shot 5.00\u202fPM.png", "picture");
    put("cafe\u0301.txt", "coffee");
    for (const [typed, unseen] of [
      ["Shot 5.00 PM.png", "U+202F"],
      ["caf\u00e9.txt", "U+0301"],
    ] as const) {
      const ran = await run(["upload", typed, "--vault", "Open"]);
      expect(ran.code).toBe(3);
      expect(ran.err).toContain(unseen);
    }
    await run(["upload", "Shot 5.00\u202fPM.png", "--vault", "Open"]);
    for (const [line, meant] of [
      [["stat", "Open:Shot 5.00 PM.png"], "Shot 5.00\u202fPM.png"],
      [["stat", "Open:ONE.TXT"], "one.txt"],
      [["ls", "team:"], "Team"],
    ] as const) {
      const ran = await run(line);
      expect([line, ran.code]).toEqual([line, 3]);
      expect(ran.err).toContain(meant);
    }
  });

  it.each([
    ["a folder's", ["upload", "one.txt", "--vault", "Open", "--folder", "Notes/.."]],
    ["a file's", ["upload", "one.txt", "--vault", "Open", "--folder", "Notes", "--name", "a/b"]],
    ["a new folder's", ["folders", "create", "Open:Notes/deep/.."]],
    ["a folder's in a shared vault", ["upload", "one.txt", "--vault", "Team", "--folder", "Notes/.."]],
  ])("of a path are checked before its first folder is made: %s", async (_what, words) => {
    expect(await run(words)).toMatchObject({ code: 2 });
    for (const vault of ["Open", "Team"]) {
      const { folders } = await json(["folders", "list", `${vault}:`]);
      expect(folders).not.toContainEqual(expect.objectContaining({ name: "Notes" }));
    }
  });

  it("of a local folder go into a folder that is named by its id", async () => {
    const { folder } = await json(["folders", "create", "Open:by-id"]);
    const { id } = folder as { id: string };
    mkdirSync(join(shell.home, "photos"));
    put(join("photos", "a.jpg"), "a");
    expect(await run(["upload", "photos", "--vault", "Open", "--folder", id])).toMatchObject({ code: 0 });
    expect(await run(["stat", "Open:by-id/photos/a.jpg"])).toMatchObject({ code: 0 });
    expect((await run(["ls", "Open:"])).out).not.toContain(`${id}/`);
  });
});

it("a shared vault without a chain key lists what is closed, what to do, and no success", async () => {
  const without = { env: { SERVICE_CHAIN_PRIVATE_KEY: "" } };
  for (const words of [
    ["ls", "Team:"],
    ["vaults", "tree", "Team"],
  ]) {
    const ran = await run(words, without);
    expect([words, ran.code]).toEqual([words, 4]);
    expect(ran.err).toContain("next: coffer doctor");
  }
});

it("standard input has the names that other programs give it, and other streams are told of it", async () => {
  for (const word of ["-", "/dev/stdin"]) {
    const name = `from${word.replaceAll("/", "_")}`;
    const ran = await run(["upload", word, "--name", name, "--vault", "Open"], { input: "typed" });
    expect(ran).toMatchObject({ code: 0 });
    expect(await run(["cat", `Open:${name}`])).toMatchObject({ out: "typed" });
  }
  expect((await run(["upload", "-", "--vault", "Open"])).err).toContain("--name NAME");
  const stream = await run(["upload", "/dev/null", "--name", "x", "--vault", "Open"]);
  expect([stream.code, stream.err.includes("--stdin")]).toEqual([2, true]);
});

it("a network file may begin with a byte order mark", async () => {
  const marked = join(shell.home, "marked.json");
  writeFileSync(marked, `\ufeff${readFileSync(stage.networkFile, "utf8")}`);
  expect(await run(["ls", "Team:"], { env: { SERVICE_NETWORK_FILE: marked } })).toMatchObject({ code: 0 });
});

it("an export says its size first and leaves out the trash, unless it is asked for", async () => {
  put("gone.txt", "gone");
  await run(["upload", "gone.txt", "--vault", "Team"]);
  await run(["rm", "Team:gone.txt"]);
  const ran = await run(["export", "Team", "team.export"]);
  expect(ran.err).toMatch(/^Exporting 1 files, .* the trash stays out \(--trash\)/);
  expect(await json(["export", "Team", "whole.export", "--trash"])).toMatchObject({ files: 2, totalFiles: 2 });
  expect(await json(["decrypt", "whole.export", "opened"])).toMatchObject({ decrypted: 1, trashed: 1 });
});

describe("what is not there is exit code 3, as the table says [issue 49]", () => {
  it.each([
    ["a file by an id", ["download", "00000000"]],
    ["a file by an id, to read", ["cat", "deadbeef"]],
    ["a file by an id, for good", ["rm", "deadbeef", "--permanent", "--yes"]],
    ["a file of a vault", ["download", "Open:nowhere.txt"]],
    ["a folder by an id", ["upload", "one.txt", "--vault", "Open", "--folder", "00000000"]],
    ["a folder by an id, to list", ["ls", "00000000"]],
    ["a folder by an id, to search", ["search", "--folder", "00000000"]],
    ["a vault", ["ls", "Nowhere:"]],
    ["a local file", ["upload", "nowhere.txt", "--vault", "Open"]],
    ["a local folder", ["sync", "nowhere", "Open:x"]],
    ["an export", ["decrypt", "nowhere", "there"]],
    ["an invite's file", ["login", "--profile", "other", "--invite-file", "nowhere.txt"]],
  ])("%s", async (_what, words) => {
    const ran = await run(words);
    expect([words, ran.code, ran.out]).toEqual([words, 3, ""]);
  });
});

it("the trash lists vaults that lie in it, and how they come back", async () => {
  await run(["vaults", "create", "Given up", "--public"]);
  await run(["vaults", "delete", "Given up", "--yes"]);
  const shown = await run(["trash", "list"]);
  expect(shown.out).toContain("Given up:");
  expect(shown.out).toContain("coffer vaults restore VAULT");
  const { items } = await json(["trash", "list"]);
  expect(items).toContainEqual(expect.objectContaining({ kind: "vault", name: "Given up" }));
  expect((await run(["vaults", "restore", "Given up"])).code).toBe(0);
  expect((await run(["trash", "list"])).out).not.toContain("Given up:");
});

it("a vault that is not empty names the command that empties it", async () => {
  const { vault } = await json(["vaults", "create", "Emptied", "--public"]);
  const { id } = vault as { id: string };
  await run(["folders", "create", "Emptied:in"]);
  await run(["upload", "one.txt", "--vault", "Emptied", "--folder", "in"]);
  const refused = await run(["vaults", "delete", id, "--yes"]);
  expect([refused.code, refused.err]).toEqual([7, expect.stringContaining(`coffer rm --recursive ${id}:NAME`)]);
  expect(refused.err).toContain(`coffer trash empty ${id}`);
  expect((await run(["rm", "--recursive", "Emptied:in"])).code).toBe(0);
  expect((await run(["trash", "empty", id, "--yes"])).code).toBe(0);
  expect((await run(["vaults", "delete", id, "--yes"])).code).toBe(0);
});

it("an end that is refused lists forms that are taken, and one that is taken is said with its zone", async () => {
  const words = ["invites", "create", "--name", "bot", "--vaults", "Open", "--access-until"];
  const refused = await run([...words, "blah"]);
  expect([refused.code, refused.out]).toEqual([2, ""]);
  const listed = refused.err.match(/30m|2h|17:00|noon|today|tomorrow|friday/g) ?? [];
  expect(listed.length).toBeGreaterThan(6);
  for (const form of new Set(listed)) {
    const ran = await run([...words, form]);
    expect([form, ran.code]).toEqual([form, 0]);
    const end = /^The access will end: (\d{4}-\d\d-\d\d \d\d:\d\d(?:Z|[+-]\d\d:\d\d))$/m.exec(ran.err)?.[1];
    expect(ran.out).toContain(`The agent's access ends: ${end ?? "nothing was said"}`);
  }
});

it("export and decrypt count the same files, with the trash or without", async () => {
  await run(["vaults", "create", "Counted", "--shared"]);
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    put(name, name);
    await run(["upload", name, "--vault", "Counted"]);
  }
  await run(["rm", "Counted:c.txt"]);
  for (const flags of [[], ["--trash"]]) {
    const folder = `counted${flags.join("")}`;
    const exported = await run(["export", "Counted", folder, ...flags]);
    expect(exported.out).toContain("Exported Counted: 2 files");
    expect(exported.out.includes("1 files of the trash, which coffer decrypt leaves out")).toBe(flags.length > 0);
    expect((await run(["decrypt", folder, `${folder}-out`])).out).toContain("Decrypted 2 files");
  }
});
