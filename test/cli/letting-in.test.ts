/** Who is let in, where, until when, and by whose word: the owner's own, kept on the owner's machine. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { coffer, type Ran } from "../kit/coffer.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openLyingProxy, type Lie, type LyingProxy } from "../kit/lying-proxy.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;

let scene: Scene;
let proxy: LyingProxy;
let owner: Shell;

beforeAll(async () => {
  scene = await openScene(await openSharedStack());
  proxy = await openLyingProxy(scene.stack.baseUrl);
  owner = scene.shellOf(scene.stack.owner, { SERVICE_BASE_URL: proxy.baseUrl });
});
afterEach(() => {
  proxy.lie = null;
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await scene.stack[Symbol.asyncDispose]();
});

interface Joined {
  readonly home: string;
  readonly chainAddress: string;
  readonly vaultId: string;
  /** The end that the owner set. */
  readonly accessUntil: string | null;
  /** What `coffer login` printed. */
  readonly out: string;
}

/** The owner invites, and somebody joins on a machine of their own. */
async function joinAs(name: string, words: readonly string[], home = makeDirectory()): Promise<Joined> {
  const listed = await owner.json<{ vaults: { id: string; name: string }[] }>(["vaults", "list"]);
  const known = listed.vaults.find((vault) => vault.name === `Of ${name}`)?.id;
  const vaultId = known ?? (await vaultOf(`Of ${name}`));
  const file = join(makeDirectory(), "invite.txt");
  const { invite } = await owner.json<{ invite: { accessUntil: string | null } }>([
    ...["invites", "create", "--name", name, "--vaults", vaultId, "--to-file", file],
    ...words,
  ]);
  const env = { SERVICE_NETWORK_FILE: scene.networkFile };
  const joined = await coffer(["login", "--base-url", proxy.baseUrl, "--invite-file", file], home, { env });
  expect([joined.code, joined.err]).toEqual([0, ""]);
  const chainAddress = /0x[0-9a-f]{64}/.exec(joined.out)?.[0] ?? "";
  return { home, chainAddress, vaultId, accessUntil: invite.accessUntil, out: joined.out };
}

async function vaultOf(name: string): Promise<string> {
  const { vault } = await owner.json<{ vault: { id: string } }>(["vaults", "create", name, "--shared"]);
  return vault.id;
}

/** The words of a line that was printed for the owner. */
const wordsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^coffer /, "")
    .split(" ");

function lineIn({ out, err }: Pick<Ran, "out" | "err">, pattern: RegExp): string {
  const found = pattern.exec(`${out}${err}`)?.[0];
  expect(found, `${out}${err}`).toBeDefined();
  return found ?? "";
}

async function endOf(vaultId: string, chainAddress: string): Promise<string | null | undefined> {
  const members = (await scene.stack.owner.client.vaults.members.list(vaultId)).items;
  return members.find((member) => member.chainAddress === chainAddress)?.endsAt;
}

const endIn = (days: number): string =>
  new Date(Math.ceil((Date.now() + days * DAY_MS) / QUARTER_MS) * QUARTER_MS).toISOString();

const INVITES = "/api/auth/invites";
type Row = Record<string, unknown> & { name: string; vaultIds: string[] | null };

/** The service's rows of one invite, and of the key that it made. */
const lyingOfRows =
  (name: string, change: (row: Row) => Row): Lie =>
  (path, answer) => {
    const rows = answer as { invites?: Row[]; apiKeys?: Row[] };
    const changed = (row: Row): Row => (row.name === name ? change(row) : row);
    if (path === INVITES) return { ...rows, invites: rows.invites?.map(changed) };
    return path === "/api/auth/api-keys" ? { ...rows, apiKeys: rows.apiKeys?.map(changed) } : answer;
  };

it("the line that the agent prints keeps the end that its owner set, and lets in it alone [issue 49]", async () => {
  const other = await joinAs("waiting-too", []);
  const { chainAddress, vaultId, out, accessUntil } = await joinAs("until-friday", ["--access-until", "3d"]);
  const line = lineIn({ out, err: "" }, /coffer agents list --approve 0x[0-9a-f]{64}/);
  expect(out).not.toContain("members add");
  const approved = await owner.run([...wordsOf(line), "--yes", "--json"]);
  expect([approved.code, JSON.parse(approved.out)]).toMatchObject([
    0,
    { approved: [{ chainAddress, vaultId, outcome: "added" }] },
  ]);
  expect(Date.parse(accessUntil ?? "")).toBeGreaterThan(Date.now() + 2 * DAY_MS);
  expect(await endOf(vaultId, chainAddress)).toBe(accessUntil);
  expect(await endOf(other.vaultId, other.chainAddress)).toBeUndefined();
  // The same line again has nothing left to do.
  expect((await owner.run([...wordsOf(line), "--yes"])).code).toBe(0);
});

it("a service that adds a vault, lengthens the end or renames the agent changes neither the question nor the act [issue 49]", async () => {
  const payroll = await vaultOf("Payroll");
  const agent = await joinAs("honest", ["--access-until", "2d", "--scopes", "files:read,files:write"]);
  proxy.lie = lyingOfRows("honest", (row) => ({
    ...row,
    name: "accountant",
    vaultIds: [...(row.vaultIds ?? []), payroll],
    ...("accessUntil" in row ? { accessUntil: endIn(300) } : { expiresAt: endIn(300) }),
  }));
  const asked = await owner.run(["agents", "list", "--approve", agent.chainAddress], { answers: ["y"] });
  expect(asked.code).toBe(0);
  const question = asked.err.split("\n").find((line) => line.includes("[y/N]")) ?? "";
  expect(question).toContain("honest");
  expect(question).toContain(agent.chainAddress);
  expect(question).toContain(agent.vaultId);
  expect(question).toContain("files:read");
  expect(question).not.toContain("accountant");
  expect(question).not.toContain(payroll);
  expect(question).toContain(agent.accessUntil?.slice(0, 10));
  expect(await endOf(agent.vaultId, agent.chainAddress)).toBe(agent.accessUntil);
  expect(await endOf(payroll, agent.chainAddress)).toBeUndefined();
  const members = (await scene.stack.owner.client.vaults.members.list(agent.vaultId)).items;
  expect(members.find((member) => member.chainAddress === agent.chainAddress)?.label).toBe("honest");
});

it("a service that gives one agent the name of another lets in nobody by that name [issue 49]", async () => {
  const first = await joinAs("first", []);
  const second = await joinAs("second", []);
  proxy.lie = lyingOfRows("second", (row) => ({ ...row, name: "first" }));
  const approved = await owner.run(["agents", "list", "--approve", "first", "--yes"]);
  expect(approved.code).toBe(0);
  expect(await endOf(first.vaultId, first.chainAddress)).toBeNull();
  expect(await endOf(second.vaultId, second.chainAddress)).toBeUndefined();
});

it("--yes needs a name, and without one each is asked about [issue 49]", async () => {
  const one = await joinAs("asked-one", []);
  const refused = await owner.run(["agents", "list", "--approve", "--yes"]);
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining("coffer agents list --approve ADDRESS --yes"),
  ]);
  expect(await endOf(one.vaultId, one.chainAddress)).toBeUndefined();
  const two = await joinAs("asked-two", []);
  const questions: string[] = [];
  const atQuestion = async (question: string): Promise<string> => {
    questions.push(question);
    return question.includes("asked-two") ? "y" : "n";
  };
  const asked = await owner.run(["agents", "list", "--approve"], { atQuestion });
  expect(asked.code).toBe(0);
  expect(questions.filter((each) => each.includes("asked-"))).toHaveLength(2);
  expect(await endOf(one.vaultId, one.chainAddress)).toBeUndefined();
  expect(await endOf(two.vaultId, two.chainAddress)).toBeNull();
  const nobody = await owner.run(["agents", "list", "--approve", `0x${"77".repeat(32)}`, "--yes"]);
  expect([nobody.code, nobody.err]).toEqual([3, expect.stringContaining("0x7777")]);
});

it("an agent that was removed, or whose end is over, waits for nothing, and a new invite lets it in again [issue 49]", async () => {
  const { home, chainAddress, vaultId } = await joinAs("removed", []);
  const waits = async (): Promise<string[] | undefined> => {
    const { agents } = await owner.json<{ agents: { chainAddress: string; waitsFor: string[] }[] }>(["agents", "list"]);
    return agents.find((agent) => agent.chainAddress === chainAddress)?.waitsFor;
  };
  expect(await waits()).toEqual([vaultId]);
  // By the address alone, so that the invite's text stays.
  expect((await owner.run(["members", "add", vaultId, chainAddress])).code).toBe(0);
  expect((await owner.run(["members", "remove", vaultId, chainAddress, "--yes"])).code).toBe(0);
  expect(await waits()).toEqual([]);
  // Nor where nothing of the invite is kept.
  rmSync(join(owner.home, ".config/coffer/handed-out"), { recursive: true });
  expect(await waits()).toEqual([]);
  const removed = await owner.run(["agents", "list", "--approve", chainAddress, "--yes"]);
  expect([removed.code, removed.out]).toEqual([0, expect.not.stringContaining("wait")]);
  expect(await endOf(vaultId, chainAddress)).toBeUndefined();

  expect((await coffer(["logout"], home)).code).toBe(0);
  const again = await joinAs("removed", ["--access-until", "1d"], home);
  expect(again.chainAddress).toBe(chainAddress);
  const line = lineIn({ out: again.out, err: "" }, /coffer agents list --approve 0x[0-9a-f]{64}/);
  expect((await owner.run([...wordsOf(line), "--yes"])).code).toBe(0);
  expect(await endOf(vaultId, chainAddress)).toBe(again.accessUntil);
});

it("`members add` of an invited agent's address takes the invite's end, unless another is named [issue 49]", async () => {
  const agent = await joinAs("by-address", ["--access-until", "2d"]);
  const added = await owner.run(["vaults", "members", "add", agent.vaultId, agent.chainAddress]);
  expect(added.code).toBe(0);
  expect(await endOf(agent.vaultId, agent.chainAddress)).toBe(agent.accessUntil);
  const other = await joinAs("by-address-until", ["--access-until", "2d"]);
  const sooner = endIn(1);
  const words = ["vaults", "members", "add", other.vaultId, other.chainAddress, "--until", sooner];
  expect((await owner.run(words)).code).toBe(0);
  expect(await endOf(other.vaultId, other.chainAddress)).toBe(sooner);
});

it("where nothing of the invite is kept, the line that is printed has the end, and works as it is [issue 49]", async () => {
  const { chainAddress, vaultId, accessUntil } = await joinAs("made-elsewhere", ["--access-until", "3d"]);
  const kept = join(owner.home, ".config/coffer/handed-out");
  for (const name of readdirSync(kept)) rmSync(join(kept, name));
  const ran = await owner.run(["agents", "list", "--approve", chainAddress, "--yes"]);
  expect(ran.code).toBe(5);
  const line = lineIn(ran, /coffer vaults members add \S+ 0x[0-9a-f]{64} --until \S+/);
  expect((await owner.run(wordsOf(line))).code).toBe(0);
  expect(await endOf(vaultId, chainAddress)).toBe(accessUntil);
});

it("an agent's access is revoked by the address that the list shows [issue 49]", async () => {
  const { home, chainAddress, vaultId } = await joinAs("by-its-address", []);
  expect((await owner.run(["agents", "list", "--approve", chainAddress, "--yes"])).code).toBe(0);
  expect((await owner.run(["agents", "list"])).out).toContain(chainAddress);
  const revoked = await owner.json(["agents", "revoke", chainAddress, "--yes"]);
  expect(revoked).toMatchObject({ chainAddress, key: "revoked" });
  expect(await endOf(vaultId, chainAddress)).toBeUndefined();
  // It is told what helps: not to sign in, but to ask for an invite.
  const told = await coffer(["ls"], home, { env: { SERVICE_NETWORK_FILE: scene.networkFile } });
  expect([told.code, told.err]).toEqual([4, expect.stringMatching(/was revoked[\s\S]*next: .*new invite/)]);
  const again = await owner.run(["agents", "revoke", chainAddress, "--yes"]);
  expect([again.code, again.out]).toEqual([0, expect.stringContaining("revoked")]);
});

it("a stranger to a vault is told of no access, and not of one without an end [issue 49]", async () => {
  const agent = await joinAs("stranger", []);
  const env = { SERVICE_NETWORK_FILE: scene.networkFile };
  const ran = await coffer(["vaults", "check", agent.vaultId], agent.home, { env });
  expect(ran.code).toBe(1);
  expect(ran.out).not.toMatch(/access ends/);
  expect(ran.out).toContain("no member");
});
