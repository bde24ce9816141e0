/** From an invite to an agent's first call: the commands as a person at a shell runs them. */
import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { openToolClient, launcherCommand, startStack, type Stack } from "@coffer/devstack";
import { createClient, type Client } from "@coffer/sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";

let stack: Stack;
let owner: Client;
let vaultId: string;
const folder = makeDirectory();

beforeAll(async () => {
  stack = await startStack();
  const { baseUrl, sharedVaults } = stack;
  owner = createClient({ baseUrl, credentials: { apiKey: stack.apiKey }, sharedVaults });
  vaultId = (await owner.vaults.create({ name: "Joined", type: "shared" })).id;
});

afterAll(async () => {
  await stack.close();
});

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { command, args: launcher } = launcherCommand();
  const environment = { PATH: process.env["PATH"], HOME: folder, SERVICE_CONFIG_DIR: join(folder, "coffer"), ...env };
  try {
    const done = await promisify(execFile)(command, [...launcher, ...args], { env: environment });
    return { code: 0, ...done };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

it("an invite becomes keys in a 0600 file, the owner adds the address, and the agent uploads [J4]", async () => {
  const invite = await owner.invites.create({ name: "agent", vaultIds: [vaultId] });
  const file = join(folder, "invite.txt");
  await writeFile(file, `${invite.text}\n`, { mode: 0o600 });
  const given = ["--base-url", stack.baseUrl, "--network", stack.networkFile];
  const joined = await run(["join", "--code-file", file, ...given]);
  expect(joined).toMatchObject({ code: 0, stderr: "" });
  const address = /0x[0-9a-f]{64}/.exec(joined.stdout)?.[0] ?? "";
  expect(joined.stdout).toContain(`coffer agents list --approve ${address}\n`);
  const config = join(folder, "coffer", "config.json");
  expect((await stat(config)).mode & 0o777).toBe(0o600);
  const saved = JSON.parse(await readFile(config, "utf8")) as { profiles: Record<string, Record<string, string>> };
  const { apiKey = "", chainPrivateKey = "" } = saved.profiles["default"] ?? {};
  for (const secret of [apiKey, chainPrivateKey, invite.text]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(joined.stdout).not.toContain(secret);
  }

  await owner.vaults.members.add(vaultId, address, { label: "agent" });
  await using tools = await openToolClient({
    credentialsFile: config,
    folders: [folder],
    launcher: launcherCommand(),
    environment: { SERVICE_CONFIG_DIR: join(folder, "coffer") },
  });
  const written = await tools.call("file_write", { name: "first.txt", text: "encrypted here", vaultId });
  expect([written.code, written.facts["bytes"]]).toEqual([null, 14]);
});

it("an invite that was used is refused, and no saved key is replaced", async () => {
  const invite = await owner.invites.create({ name: "second", vaultIds: [vaultId] });
  const env = { SERVICE_BASE_URL: stack.baseUrl };
  const before = await readFile(join(folder, "coffer", "config.json"), "utf8");
  const taken = await run(["join", invite.text], env);
  expect([taken.code, taken.stderr.includes("has a key already")]).toEqual([1, true]);
  expect(await readFile(join(folder, "coffer", "config.json"), "utf8")).toBe(before);
  const other = await run(["join", invite.text, "--profile", "other", "--json"], env);
  expect(JSON.parse(other.stdout)).toMatchObject({ profile: "other", vaultIds: [vaultId] });
  const again = await run(["join", invite.text, "--profile", "third"], env);
  expect(again.code).toBe(1);
  expect(again.stderr).not.toContain(invite.text);
});
