/** A person on a second machine: what the programs print and docs/guides/second-machine.md shows, run as it stands. */
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clockAhead } from "../journeys/kit/clock-ahead.ts";
import { COFFER, runInTerminal, runProgram, type ProgramRan, type Typed } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

const PASSWORD = "several unrelated words 41";
const MINUTE = 60_000;

const root = makeDirectory();
const bin = join(root, "bin");
const clockFile = join(root, "clock.mjs");
let stack: SharedStack;
/** Milliseconds: of the stack, its chain and every program, beyond the clock of this machine. */
let ahead = 0;
const now = (): number => Date.now() + ahead;

/** Never back. */
async function moveTo(moment: number): Promise<void> {
  ahead += Math.max(0, moment - now());
  await writeFile(clockFile, clockAhead(ahead));
}

beforeAll(async () => {
  await moveTo(now());
  stack = await openSharedStack({ clock: now, environment: { SERVICE_ACCESS_CODES: "off" } });
  await mkdir(bin);
  const [node, ...args] = COFFER;
  const line = [node, "--import", clockFile, ...args].map((word) => `'${word}'`).join(" ");
  await writeFile(join(bin, "coffer"), `#!/bin/sh\nexec ${line} "$@"\n`);
  await chmod(join(bin, "coffer"), 0o755);
});

afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

/** No day ends there soon: with a Friday, the access would end in the middle of the test. */
const zone = new Date().getUTCHours() < 12 ? "Europe/Berlin" : "America/Los_Angeles";

/** The blocks of the guide, in order. The first one makes an account to try it with. */
const blocks = [
  ...(await readFile(new URL("../../docs/guides/second-machine.md", import.meta.url), "utf8")).matchAll(
    /^```sh\n(.*?)^```$/gms,
  ),
].map(([, block = ""]) => block);

/** A home, a folder that the person is in, and a shell. */
async function machine(name: string) {
  const home = join(root, name);
  await mkdir(home);
  const env = { HOME: home, PATH: `${bin}:${process.env["PATH"] ?? ""}`, TZ: zone };
  const program = ["/bin/sh", "-ec"] as const;
  return {
    home,
    run: (line: string): Promise<ProgramRan> => runProgram([line], { env, cwd: home, program: [...program] }),
    /** A line that has to work; everything that it printed. */
    async type(line: string): Promise<string> {
      const { code, out, err } = await this.run(line);
      expect([line, code, code === 0 ? "" : out + err]).toEqual([line, 0, ""]);
      return err + out;
    },
    /** In a terminal, where somebody answers. */
    async answer(line: string, typed: readonly Typed[]): Promise<void> {
      const { code, screen } = await runInTerminal([line], { env, cwd: home, program: [...program], typed });
      expect([code, code === 0 ? "" : screen]).toEqual([0, ""]);
    },
  };
}

it("keeps its account's vaults by the same key, or as a member until the end that was said [issue 49]", async () => {
  const first = await machine("first");
  const networkFile = join(first.home, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()));
  const email = "ada@example.com";
  await first.answer(`coffer signup --email ${email} --base-url ${stack.baseUrl} --network-file network.json`, [
    { after: "New password: ", types: `${PASSWORD}\n` },
    { after: "The same again: ", types: `${PASSWORD}\n` },
  ]);
  const [, backup = "", atSecond = "", invite = "", asMember = ""] = blocks;
  expect(blocks).toHaveLength(5);

  // With the same key: the files that are named are copied, and the lines that are printed are run.
  const second = await machine("second");
  const printed = await first.type(backup);
  const keyFile = /^The key of 0x[0-9a-f]{64} is in (\S+)\. /m.exec(printed)?.[1] ?? "";
  for (const file of [keyFile, networkFile]) {
    expect(printed).toContain(file);
    await copyFile(file, join(second.home, basename(file)));
  }
  const [login = "", importing = "", ...more] = linesIn(printed);
  expect(more).toEqual([]);
  await second.answer(login, [
    { after: "E-mail: ", types: `${email}\n` },
    { after: "Password: ", types: `${PASSWORD}\n` },
  ]);
  const lacking = await second.type("coffer doctor");
  expect(lacking).toMatch(/^- {3}chain-key .*the account has the chain address 0x.*coffer chain import/m);
  expect(await second.run("coffer chain generate")).toMatchObject({ code: 7 });
  await second.type(importing);
  await second.type(atSecond);

  // As a member: what the owner's command prints lets a third machine in.
  const said = await first.type(invite);
  const end = /^The access will end: (\S+ \S+)$/m.exec(said)?.[1] ?? "";
  expect(end).toMatch(/^\d{4}-\d\d-\d\d 00:00[+-]\d\d:00$/);
  const third = await machine("third");
  const joined = await third.type(/^\s*(echo \S+ \| coffer login .*)$/m.exec(said)?.[1] ?? "no line was printed");
  await first.answer(linesIn(joined)[0] ?? "no line was printed", [{ after: "[y/N] ", types: "y\n" }]);
  await third.type(asMember);
  for (const person of [first, second]) {
    await person.type('coffer download "Two machines:second.txt" read.txt');
    expect(await readFile(join(person.home, "read.txt"), "utf8")).toBe("written on the second machine\n");
  }

  await moveTo(Date.parse(end.replace(" ", "T")) - 5 * MINUTE);
  await third.type('coffer download "Two machines:second.txt" before.txt');
  await moveTo(Date.parse(end.replace(" ", "T")) + 1_000);
  const ended = await third.run('coffer download "Two machines:second.txt" after.txt');
  expect([ended.code, ended.out]).toEqual([4, ""]);
  await expect(readFile(join(third.home, "after.txt"))).rejects.toThrow("ENOENT");
  expect(await first.type("coffer members list 'Two machines'")).toContain(end);
  await second.type('echo "after the end" > later.txt; coffer upload later.txt --vault "Two machines"');
  await first.type('coffer download "Two machines:later.txt" later.txt');
  expect(await readFile(join(first.home, "later.txt"), "utf8")).toBe("after the end\n");
});

/** Commands that an output gives a line of their own. */
const linesIn = (printed: string): string[] =>
  [...printed.matchAll(/^ {2}(coffer .*)$/gm)].map(([, line = ""]) => line);
