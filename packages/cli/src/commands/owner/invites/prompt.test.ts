/** What an owner pastes to an agent runs nothing that the project does not own, and shows the invite to no list of processes. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { coffer } from "../../../../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../../../../test/kit/directory.ts";
import type { Context } from "../../../context.ts";
import { promptLines } from "./prompt.ts";

const CODE = "cofi_AAAA.BBBB";
const BASE_URL = "https://coffer.example.com";

async function textFor(home: string, given: { file?: string; networkFile?: string } = {}): Promise<string> {
  const { file = null, networkFile = null } = given;
  const context = {
    settings: () => Promise.resolve({ baseUrl: BASE_URL, networkFile }),
    world: { env: { HOME: home } },
    globals: {},
  } as unknown as Context;
  return (await promptLines(context, { name: "bot", code: CODE, file })).join("\n");
}

async function profile(fields: object): Promise<string> {
  const home = makeDirectory();
  const folder = join(home, ".config", "coffer");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const profiles = { default: { baseUrl: BASE_URL, ...fields } };
  await writeFile(join(folder, "config.json"), JSON.stringify({ version: 1, defaultProfile: "default", profiles }), {
    mode: 0o600,
  });
  return home;
}

it("names no package: the program comes from its owner, and the invite goes in on standard input [5.8]", async () => {
  const text = await textFor(await profile({}));
  expect(text).not.toMatch(/\b(?:npx|npm|pnpm|yarn|bunx|dlx|exec|install)\b(?! --client)|@/);
  expect(text).toContain("Get the program from me");
  expect(text).toContain(`\n  echo ${CODE} | coffer login --invite-code - --base-url ${BASE_URL}\n`);
  // Nowhere is the invite a word of a command: lists of processes show those.
  expect(text).not.toMatch(/--invite-code (?!- )/);
});

it("names the program that the owner's own configuration names", async () => {
  const home = await profile({});
  expect((await coffer(["config", "set", "agent-program", "npx --yes @acme/coffer@1.2.3"], home)).code).toBe(0);
  expect((await coffer(["config", "get", "agent-program"], home)).out).toBe("npx --yes @acme/coffer@1.2.3\n");
  expect((await coffer(["config", "list"], home)).out).toMatch(/agent-program +npx --yes @acme/);
  const text = await textFor(home);
  expect(text).toContain(
    `\n  echo ${CODE} | npx --yes @acme/coffer@1.2.3 login --invite-code - --base-url ${BASE_URL}\n`,
  );
  expect(text).toContain("npx --yes @acme/coffer@1.2.3 mcp install --client");
  expect(text).not.toContain("Get the program");
  // The address of another service changes nothing of it: it is the owner's word.
  await coffer(["config", "set", "base-url", "https://elsewhere.example"], home);
  expect((await coffer(["config", "get", "agent-program"], home)).out).toContain("@acme/coffer");
  const refused = await coffer(["config", "set", "agent-program", "a\nb"], home);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("one line")]);
  expect((await coffer(["config", "set", "agent-program", ""], home)).out).toBe("agent-program is none\n");
  expect(await textFor(home)).toContain("Get the program from me");
});

it("reads the invite from a file on standard input, too", async () => {
  const text = await textFor(await profile({}), { file: "/home/ada/my invite.txt", networkFile: "/etc/network.json" });
  expect(text).toContain(
    `\n  coffer login --invite-code - --network-file /etc/network.json --base-url ${BASE_URL} < '/home/ada/my invite.txt'\n`,
  );
  expect(text).not.toContain(CODE);
});
