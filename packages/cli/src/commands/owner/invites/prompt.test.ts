/** What an owner pastes to an agent runs nothing but what the owner named, and shows the invite to no list of processes. */
import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { coffer } from "../../../../../../test/kit/coffer.ts";
import { makeDirectory } from "../../../../../../test/kit/directory.ts";
import { listenOnLoopback } from "../../../../../../test/kit/loopback.ts";
import type { Context } from "../../../context.ts";
import { promptLines } from "./prompt.ts";

const CODE = "cofi_AAAA.BBBB";
const BASE_URL = "https://coffer.example.com";
const HOSTED = "https://example.com/coffer.mjs";

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

it("names the line that the owner's own configuration names", async () => {
  const home = await profile({});
  const line = "npm install -g @acme/coffer@1.2.3";
  expect((await coffer(["config", "set", "install-line", line], home)).code).toBe(0);
  expect((await coffer(["config", "get", "install-line"], home)).out).toBe(`${line}\n`);
  expect((await coffer(["config", "list"], home)).out).toMatch(/install-line +npm install -g @acme/);
  const text = await textFor(home);
  expect(text).toContain(`Install the program first:\n\n  ${line}\n`);
  expect(text).toContain(`\n  echo ${CODE} | coffer login --invite-code - --base-url ${BASE_URL}\n`);
  expect(text).not.toContain("Get the program");
  // The address of another service changes nothing of it: it is the owner's word.
  await coffer(["config", "set", "base-url", "https://elsewhere.example"], home);
  expect((await coffer(["config", "get", "install-line"], home)).out).toContain("@acme/coffer");
  const refused = await coffer(["config", "set", "install-line", "a\nb"], home);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("one line")]);
  expect((await coffer(["config", "set", "install-line", ""], home)).out).toBe("install-line is none\n");
  expect(await textFor(home)).toContain("Get the program from me");
});

it("names a file of this machine for agents on it", async () => {
  const home = await profile({});
  const file = join(home, "my files", "coffer.mjs");
  const missing = await coffer(["config", "set", "install-line", file], home);
  expect([missing.code, missing.err]).toEqual([3, expect.stringContaining(`There is no file ${file}`)]);
  await mkdir(join(home, "my files"));
  await writeFile(file, "");
  expect((await coffer(["config", "set", "install-line", "my files/coffer.mjs"], home)).code).toBe(0);
  const text = await textFor(home);
  expect(text).toContain(`\n  echo ${CODE} | node '${file}' login --invite-code - --base-url ${BASE_URL}\n`);
  expect(text).toContain(`node '${file}' mcp install --client`);
});

it("reads the invite from a file on standard input, too", async () => {
  const text = await textFor(await profile({}), { file: "/home/ada/my invite.txt", networkFile: "/etc/network.json" });
  expect(text).toContain(
    `\n  coffer login --invite-code - --network-file /etc/network.json --base-url ${BASE_URL} < '/home/ada/my invite.txt'\n`,
  );
  expect(text).not.toContain(CODE);
});

/** With a copy of the program beside the one that runs. */
async function ownerWith(program: string): Promise<{ home: string; script: string; sha256: string }> {
  const home = await profile({});
  await writeFile(join(home, "coffer.mjs"), program);
  return { home, script: join(home, "main.js"), sha256: createHash("sha256").update(program).digest("hex") };
}

it("names a hosted file with the SHA-256 of the owner's own copy", async () => {
  const { home, script, sha256 } = await ownerWith("// the program");
  const set = await coffer(["config", "set", "install-line", HOSTED], home, { script });
  expect([set.code, set.out]).toEqual([0, `install-line is ${HOSTED}#sha256=${sha256}\n`]);
  const text = await textFor(home);
  expect(text).toContain(`The program is ${HOSTED}, with SHA-256 ${sha256}.`);
  expect(text).toMatch(new RegExp(`\\n {2}node -e '[^']+' ${HOSTED} ${sha256} ~/coffer\\.mjs && echo ${CODE} \\|`));
  expect(text).toContain(`| node ~/coffer.mjs login --invite-code - --base-url ${BASE_URL}\n`);
  // What is saved can be given again, and the digest is that of the copy that is here then.
  await writeFile(join(home, "coffer.mjs"), "// a newer program");
  const again = await coffer(["config", "set", "install-line", `${HOSTED}#sha256=${sha256}`], home, { script });
  expect([again.code, again.out.includes(sha256)]).toEqual([0, false]);
  const without = await coffer(["config", "set", "install-line", HOSTED], home, { script: "/opt/coffer/main.js" });
  expect([without.code, without.err]).toEqual([3, expect.stringContaining("There is no /opt/coffer/coffer.mjs")]);
  for (const address of ["https://me:secret@example.com/coffer.mjs", "https://example.com/x#y", "https://"])
    expect((await coffer(["config", "set", "install-line", address], home, { script })).code).toBe(2);
});

it("prints a line that downloads the hosted file, and runs it only if it is the owner's", async () => {
  const program = `import { readFileSync } from "node:fs";
console.log("ran", process.argv.slice(2).join(" "), readFileSync(0, "utf8").trim());
`;
  const { home, script } = await ownerWith(program);
  let served = program;
  await using host = await listenOnLoopback((_request, response) => void response.end(served));
  await coffer(["config", "set", "install-line", `${host.baseUrl}/coffer.mjs`], home, { script });
  const [, line = ""] = /\n {2}(node -e .+)\n/.exec(await textFor(home)) ?? [];
  const paste = async (): Promise<{ code: number; out: string; err: string; kept: string | null }> => {
    const reader = makeDirectory();
    const env = { HOME: reader, PATH: `${join(process.execPath, "..")}:${process.env["PATH"] ?? ""}` };
    const ran = await promisify(execFile)("sh", ["-c", line], { env, cwd: reader }).then(
      ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, out: stdout, err: stderr };
      },
    );
    const file = join(reader, "coffer.mjs");
    return { ...ran, kept: existsSync(file) ? readFileSync(file, "utf8") : null };
  };
  expect(await paste()).toMatchObject({ code: 0, out: `ran login --invite-code - --base-url ${BASE_URL} ${CODE}\n` });
  served = `${program}// and more`;
  const refused = await paste();
  expect([refused.code, refused.out, refused.kept]).toEqual([1, "", null]);
  expect(refused.err).toContain("has SHA-256");
});
