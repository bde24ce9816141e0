/** `coffer unlock` and `coffer lock`, as programs, against real key servers. */
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BUILT_COFFER, runProgram } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openScene, openSharedStack, type Scene, type Shell } from "./owner-scene.ts";

const CONTENT = "the plan of the canary";
const KEY_SERVERS = [0, 1, 2];

let scene: Scene;
let vaultId: string;
const shells: Shell[] = [];
beforeAll(async () => {
  scene = await openScene(await openSharedStack());
  const { client } = scene.stack.owner;
  vaultId = (await client.vaults.create({ name: "Held", type: "shared" })).id;
  await client.files.upload({ vaultId, name: "plan.txt", body: CONTENT });
});
afterEach(async () => {
  for (const shell of shells.splice(0)) await ran(shell, ["lock"]);
});
afterAll(async () => {
  await scene.stack[Symbol.asyncDispose]();
});

function shellOf(person: Parameters<Scene["shellOf"]>[0]): Shell {
  const shell = scene.shellOf(person);
  shells.push(shell);
  return shell;
}

const ran = ({ home, env }: Shell, words: readonly string[]) =>
  runProgram(words, { env: { HOME: home, ...env }, program: BUILT_COFFER });

const asked = (): number =>
  KEY_SERVERS.reduce((sum, server) => sum + scene.stack.localnet.keyServerRequests(server).fetchKey, 0);

/** Requests for keys that a command makes. */
async function askedBy(shell: Shell, words: readonly string[]): Promise<number> {
  const before = asked();
  expect(await ran(shell, words)).toMatchObject({ code: 0, out: CONTENT });
  return asked() - before;
}

/** Everything that the command line keeps in its directory, as text. */
const keptBy = ({ home }: Shell): string => {
  const directory = join(home, ".config", "coffer");
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => readFileSync(join(parentPath, name), "latin1"))
    .join("\n");
};

/** Processes that hold keys for this shell, by their id. */
const holdersOf = ({ home }: Shell): string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
      return words.includes("--stay") && readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HOME=${home}\0`);
    } catch {
      return false; // No process, or one that has ended.
    }
  });

describe("coffer unlock [issue 19]", () => {
  it("lets later commands open the vault without key servers, until coffer lock", async () => {
    const shell = shellOf(scene.stack.owner);
    const cat = ["cat", `${vaultId}:plan.txt`];
    expect(await askedBy(shell, cat)).toBeGreaterThan(0);
    const unlocked = await ran(shell, ["unlock", "--json"]);
    expect([unlocked.code, unlocked.err]).toEqual([0, ""]);
    const { unlocked: is, until } = JSON.parse(unlocked.out) as { unlocked: boolean; until: string };
    expect(is).toBe(true);
    expect((Date.parse(until) - Date.now()) / 60_000).toBeGreaterThan(14);
    expect(await askedBy(shell, cat)).toBeGreaterThan(0);
    expect(await askedBy(shell, cat)).toBe(0);
    expect((await ran(shell, ["unlock", "--minutes", "2"])).out).toContain("coffer lock");
    expect(await askedBy(shell, cat)).toBe(0);
    const locked = await ran(shell, ["lock", "--json"]);
    expect(JSON.parse(locked.out)).toEqual({ unlocked: false, wereHeld: true });
    expect(await askedBy(shell, cat)).toBeGreaterThan(0);
    expect((await ran(shell, ["lock"])).out).toBe("No vault keys were held.\n");
  });

  it("is for its own user, and writes no key and no content anywhere", async () => {
    const shell = shellOf(scene.stack.owner);
    await ran(shell, ["unlock"]);
    const directory = join(shell.home, ".config", "coffer");
    const [socket = ""] = readdirSync(directory).filter((name) => name.endsWith(".sock"));
    expect(lstatSync(join(directory, socket)).mode & 0o777).toBe(0o600);
    expect(lstatSync(directory).mode & 0o777).toBe(0o700);
    await ran(shell, ["cat", `${vaultId}:plan.txt`]);
    expect(keptBy(shell)).not.toContain(CONTENT);
    expect(keptBy(shell)).not.toMatch(/[A-Za-z0-9+/]{43}=/);
  });

  it("holds them in a process whose environment has no secret", async () => {
    const shell = shellOf(scene.stack.owner);
    await ran(shell, ["unlock"]);
    const environments = holdersOf(shell).map((pid) => readFileSync(`/proc/${pid}/environ`, "latin1"));
    expect(environments).toHaveLength(1);
    const secrets = ["SERVICE_API_KEY", "SERVICE_CHAIN_PRIVATE_KEY"].map((name) => shell.env[name] ?? "");
    expect(secrets).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
    expect(secrets.filter((secret) => environments[0]?.includes(secret) !== false)).toEqual([]);
  });

  it("gives a removed member nothing from the service, though it has the keys", async () => {
    const { client } = scene.stack.owner;
    const other = await scene.stack.signUp("held-member");
    await client.vaults.members.add(vaultId, other.signer.chainAddress);
    const shell = shellOf(other);
    await ran(shell, ["unlock"]);
    expect(await askedBy(shell, ["cat", `${vaultId}:plan.txt`])).toBeGreaterThan(0);
    expect(await askedBy(shell, ["cat", `${vaultId}:plan.txt`])).toBe(0);
    await client.vaults.members.remove(vaultId, other.signer.chainAddress);
    const refused = await ran(shell, ["cat", `${vaultId}:plan.txt`]);
    expect([refused.code, refused.out]).toEqual([expect.any(Number), ""]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/^next: /m);
  });

  it("says what is wrong: no chain key, too long a time", async () => {
    const { home, env } = scene.shellOf(scene.stack.owner);
    const { SERVICE_CHAIN_PRIVATE_KEY: _, ...without } = env;
    for (const words of [["unlock"], ["unlock", "--stay"]]) {
      const keyless = await runProgram(words, { env: { HOME: home, ...without }, program: BUILT_COFFER });
      expect([keyless.code, keyless.err]).toEqual([4, expect.stringContaining("coffer chain import")]);
    }
    const long = await ran(scene.owner, ["unlock", "--minutes", "721"]);
    expect([long.code, long.err]).toEqual([2, expect.stringContaining("At most 720 minutes")]);
  });

  it("refuses a directory that others can use, and one whose path is too long", async () => {
    const runtime = makeDirectory();
    mkdirSync(join(runtime, "coffer"), { mode: 0o755 });
    const shell = scene.shellOf(scene.stack.owner, { XDG_RUNTIME_DIR: runtime });
    const open = await ran(shell, ["unlock"]);
    expect([open.code, open.err]).toEqual([1, expect.stringMatching(/^next: chmod 700 /m)]);
    const deep = scene.shellOf(scene.stack.owner, { XDG_RUNTIME_DIR: join(runtime, "d".repeat(90)) });
    const long = await ran(deep, ["unlock"]);
    expect([long.code, long.err]).toEqual([1, expect.stringMatching(/^next: set XDG_RUNTIME_DIR/m)]);
  });

  it("ends at coffer logout", async () => {
    const { apiKey } = scene.stack.owner;
    const shell = scene.shellOf(scene.stack.owner, { SERVICE_API_KEY: undefined });
    shells.push(shell);
    expect((await shell.run(["login", "--api-key-stdin"], { input: apiKey })).code).toBe(0);
    await ran(shell, ["unlock"]);
    expect((await ran(shell, ["logout"])).code).toBe(0);
    expect((await ran(shell, ["lock"])).out).toBe("No vault keys were held.\n");
  });

  it("--stay holds them in this process until Ctrl-C", async () => {
    const shell = shellOf(scene.stack.owner);
    const stays = new AbortController();
    const held = shell.run(["unlock", "--stay"], { interrupted: stays.signal });
    const directory = join(shell.home, ".config", "coffer");
    await expect.poll(() => readdirSync(directory).filter((name) => name.endsWith(".sock")).length).toBe(1);
    await askedBy(shell, ["cat", `${vaultId}:plan.txt`]);
    expect(await askedBy(shell, ["cat", `${vaultId}:plan.txt`])).toBe(0);
    stays.abort();
    expect(await held).toMatchObject({ code: 130, out: "The vault keys are forgotten.\n" });
  });
});
