import { execFile } from "node:child_process";
import { mkdtemp, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { environmentFileOf, writeEnvironmentFile, type StackPlace } from "./environment-file.ts";
import { quoted } from "./shell-words.ts";

let base: string;
let place: StackPlace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "coffer-environment-"));
  const dataDirectory = join(base, `it's "my" data $(touch pwned) \`touch pwned\` \\ new\nline`);
  await mkdir(dataDirectory);
  place = {
    dataDirectory,
    baseUrl: "http://127.0.0.1:1234",
    networkFile: join(dataDirectory, "network.json"),
    credentialsFile: join(dataDirectory, "credentials.json"),
    agentFile: join(dataDirectory, "agent.json"),
    vaultId: "00000000-0000-4000-8000-000000000000",
    hookUrl: "http://127.0.0.1:1235/hook",
  };
});

afterEach(() => rm(base, { recursive: true }));

it.each(["sh", "bash"])("sourced by %s it gives each value as it is, and runs nothing [issue 49]", async (shell) => {
  const { path } = await writeEnvironmentFile(place);
  const names = [
    "SERVICE_BASE_URL",
    "SERVICE_NETWORK_FILE",
    "COFFER_DATA_DIR",
    "COFFER_OWNER_FILE",
    "COFFER_AGENT_FILE",
  ];
  const print = "process.stdout.write(JSON.stringify(process.argv.slice(1).map((name) => process.env[name])))";
  const line = `. ${quoted(path)}; ${quoted(process.execPath)} -e ${quoted(print)} ${names.join(" ")}`;
  const { stdout } = await promisify(execFile)(shell, ["-c", line], { cwd: base, env: {} });
  const { baseUrl, networkFile, dataDirectory, credentialsFile, agentFile } = place;
  expect(JSON.parse(stdout)).toEqual([baseUrl, networkFile, dataDirectory, credentialsFile, agentFile]);
  expect(await readdir(base)).toHaveLength(1);
});

it("it is for its owner alone, replaces an older one of any mode, and goes when it is disposed [issue 49]", async () => {
  const path = environmentFileOf(place.credentialsFile);
  for (const file of [path, `${path}.new`]) await writeFile(file, "touch pwned\n", { mode: 0o666 });
  {
    using written = await writeEnvironmentFile(place);
    expect(written.path).toBe(path);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  }
  expect(await readdir(place.dataDirectory)).toEqual([]);
});

it("it says nothing of which keys a program takes [issue 49]", async () => {
  const { path } = await writeEnvironmentFile(place);
  const { stdout } = await promisify(execFile)("sh", ["-c", `. ${quoted(path)}; env`], { env: {} });
  for (const name of [
    "SERVICE_CONFIG_FILE",
    "SERVICE_CONFIG_DIR",
    "SERVICE_PROFILE",
    "SERVICE_API_KEY",
    "SERVICE_CHAIN_PRIVATE_KEY",
    "SERVICE_DATA_DIR",
  ])
    expect(stdout).not.toContain(`${name}=`);
});
