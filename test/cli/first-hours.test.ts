/**
 * First hours that two people spend together, with nothing but what is printed. Each ends with a file that was stored and
 * read back, and with access that ended when it was said to: the clocks of chain, service and machines are moved.
 */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runOperator } from "../journeys/kit/operator.ts";
import { COFFER } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { lineIn, openReader, type Reader, type Shown } from "../kit/reader.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

const root = makeDirectory();
const programs = join(root, "bin");
const networkFile = join(root, "network.json");
const SECOND = 1_000;
let stack: SharedStack;
let ahead = 0;
const now = (): number => Date.now() + ahead;

beforeAll(async () => {
  stack = await openSharedStack({ clock: now, environment: { SERVICE_ACCESS_CODES: "required" } });
  await mkdir(programs);
  const [node, script] = COFFER;
  await writeFile(join(programs, "coffer"), `#!/bin/sh\nexec '${node}' '${script ?? ""}' "$@"\n`);
  await chmod(join(programs, "coffer"), 0o755);
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()));
});
afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

const AGREED = [{ after: "[y/N] ", types: "y\r" }];

/** A machine of its own, whose user has read the help. Where the service is, the operator said. */
async function newReader(): Promise<Reader> {
  const reader = await openReader({ programs, ahead: () => ahead });
  reader.reads(`coffer --help ${stack.baseUrl} ${networkFile}`);
  await done(reader, "coffer --help");
  return reader;
}

/** The line ends well. */
async function done(
  reader: Reader,
  line: string,
  own: readonly string[] = [],
  answers: Parameters<Reader["types"]>[2] = [],
): Promise<string> {
  const { code, screen } = await reader.types(line, own, answers);
  expect([line, code, screen]).toEqual([line, 0, screen]);
  return screen;
}

/** When the access of an address ends, as the chain has it; NaN: never. */
async function endOf(owner: Reader, chainAddress: string): Promise<number> {
  const { screen } = await owner.types("coffer vaults members list Team --json", ["Team", "--json"]);
  const { members } = JSON.parse(screen) as { members: { chainAddress: string; endsAt: string | null }[] };
  return Date.parse(members.find((member) => member.chainAddress === chainAddress)?.endsAt ?? "");
}

/** Of everybody. */
function moveTo(time: number): void {
  ahead = Math.max(ahead, time - Date.now());
}

const addressIn = (screen: string): string => /0x[0-9a-f]{64}/.exec(screen)?.[0] ?? "";

async function storesAndReads(reader: Reader, vault: string, name: string): Promise<void> {
  await reader.writes(name, `what ${name} says\n`);
  await done(reader, `coffer upload ${name} --vault ${vault}`, [name]);
  await done(reader, `coffer download ${vault}:${name} back.txt`, [`${vault}:${name}`, "back.txt"]);
  expect(await readFile(join(reader.home, "back.txt"), "utf8")).toBe(`what ${name} says\n`);
}

/** It is refused, and the next step that is printed is returned. */
async function refused(reader: Reader, line: string, own: readonly string[] = []): Promise<Shown> {
  const shown = await reader.types(line, own);
  expect([line, shown.code === 0]).toEqual([line, false]);
  return shown;
}

it("an owner with an agent on another HOME: it works until the end that its owner set, and again with a new invite [issue 49]", async () => {
  const owner = await newReader();
  await done(owner, "coffer signup --help");
  const signedUp = await done(
    owner,
    `coffer signup --dev --email ada@example.com --base-url ${stack.baseUrl} --network-file ${networkFile}`,
    ["ada@example.com"],
  );
  await done(owner, lineIn(signedUp, "Next: coffer vaults create").slice("Next: ".length));
  await done(owner, "coffer invites create --help");
  const invites = async (): Promise<string> =>
    await done(owner, "coffer invites create --name bot --vaults Team --access-until 3d --prompt");

  const agent = await newReader();
  const invitedAt = now();
  const invite = await invites();
  agent.reads(invite);
  const joined = await done(agent, lineIn(invite, "echo cofi_"));
  const approve = lineIn(joined, "coffer agents list --approve 0x");
  owner.reads(joined);
  const question = await done(owner, approve, [], AGREED);
  expect(question).toContain("bot");
  const address = addressIn(approve);
  const end = await endOf(owner, address);
  expect(end).toBeGreaterThanOrEqual(invitedAt + 3 * 86_400_000);
  expect(end).toBeLessThanOrEqual(now() + 3 * 86_400_000 + 15 * 60_000);
  expect(question).toContain(new Date(end).toISOString().slice(0, 10));

  await done(agent, "coffer upload --help");
  await done(agent, "coffer download --help");
  await storesAndReads(agent, "Team", "notes.txt");

  moveTo(end - 60 * SECOND);
  await done(agent, "coffer ls Team:", ["ls", "Team:"]);
  moveTo(end + 40 * SECOND);
  const over = await refused(agent, "coffer ls Team:", ["ls", "Team:"]);
  expect(over.screen).toMatch(/next: .*new invite/);
  expect(await done(owner, "coffer agents list")).not.toContain(address);

  // What it is told is what helps.
  const again = await invites();
  agent.reads(again);
  await done(agent, "coffer logout");
  const rejoined = await done(agent, lineIn(again, "echo cofi_"));
  owner.reads(rejoined);
  await done(owner, lineIn(rejoined, "coffer agents list --approve 0x"), [], AGREED);
  await done(agent, "coffer ls Team:", ["ls", "Team:"]);
  // The same address, so a revocation by what the list shows ends it at once.
  expect(addressIn(rejoined)).toBe(address);
  const listed = await done(owner, "coffer agents list");
  await done(owner, "coffer agents revoke --help");
  await done(owner, `coffer agents revoke ${addressIn(listed)}`, [], AGREED);
  expect((await refused(agent, "coffer ls Team:", ["ls", "Team:"])).screen).toMatch(/revoked[\s\S]*new invite/);
});

it("an operator who lets a second person in: she signs up by a code, and reads a vault until it was said [issue 49]", async () => {
  const operator = await newReader();
  await done(operator, "coffer signup --help");
  const signUp = `coffer signup --dev --email grace@example.com --base-url ${stack.baseUrl} --network-file ${networkFile}`;
  const mine = await done(operator, signUp, ["grace@example.com"]);
  await done(operator, lineIn(mine, "Next: coffer vaults create").slice("Next: ".length));
  await operator.writes("plan.txt", "the plan\n");
  await done(operator, "coffer upload --help");
  await done(operator, "coffer upload plan.txt --vault Team", ["plan.txt"]);
  const made = await runOperator(["access-codes", "create"], {
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: stack.dataDirectory,
  });
  expect(made.code).toBe(0);

  const second = await newReader();
  second.reads(made.stdout);
  await done(second, "coffer signup --help");
  const password = "lantern orchard violin glacier";
  const joined = await done(
    second,
    `coffer signup --email second@example.com --access-code ${made.stdout.trim()} --base-url ${stack.baseUrl} --network-file ${networkFile}`,
    ["second@example.com"],
    [
      { after: "New password: ", types: `${password}\r` },
      { after: "The same again: ", types: `${password}\r` },
    ],
  );
  operator.reads(joined);
  const address = addressIn(joined);
  await done(operator, "coffer vaults members add --help");
  const added = await done(operator, `coffer vaults members add Team ${address} --until 3d`);
  const end = await endOf(operator, address);
  expect(added).toContain(new Date(end).toISOString().slice(0, 10));

  await done(second, "coffer vaults list --help");
  const shared = await done(second, "coffer vaults list --shared-with-me");
  expect(shared).toContain("Team");
  await done(second, "coffer download --help");
  await done(second, "coffer upload --help");
  // She is no agent of the account, so nobody knows her signing key: the next step says what to do about it.
  await second.writes("hers.txt", "hers\n");
  const early = await refused(second, "coffer upload hers.txt --vault Team", ["hers.txt"]);
  await done(second, lineIn(early.screen, "next: coffer").slice("next: ".length));
  await storesAndReads(second, "Team", "hers.txt");
  await done(second, "coffer download Team:plan.txt", ["Team:plan.txt"]);
  expect(await readFile(join(second.home, "plan.txt"), "utf8")).toBe("the plan\n");

  moveTo(end - 60 * SECOND);
  await done(second, "coffer ls Team:", ["ls", "Team:"]);
  moveTo(end + 40 * SECOND);
  const over = await refused(second, "coffer download Team:plan.txt late.txt", ["Team:plan.txt", "late.txt"]);
  // The service's job may have ended the membership meanwhile; from then on the vault is in none of her lists.
  const ended = "There is no such vault: Team";
  if (over.screen.includes(ended)) return;
  const told = await refused(second, /coffer vaults check \S+/.exec(over.screen)?.[0] ?? "no next step was printed");
  if (!told.screen.includes(ended)) {
    expect(told.screen).toContain("access ends: ");
    expect(told.screen).toMatch(/ask the vault's owner/i);
  }
  expect(told.screen).not.toContain("never");
});
