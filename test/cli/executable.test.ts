/** The command line as one file: nothing is beside it, and no Node is on the path. */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLI_PEER_MODULES } from "../../scripts/peers.ts";
import { runInTerminal, runProgram } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack } from "../kit/shared-stack.ts";

const ROOT = join(import.meta.dirname, "../..");
const NAME = `coffer-${process.platform}-${process.arch}`;

it("shows its version and help, and moves files of both kinds of vaults [issue 19]", async (context) => {
  if (!existsSync(CLI_PEER_MODULES)) context.skip("postject is not installed; npm run bundle:cli installs it");
  const made = spawnSync("npm", ["run", "-s", "bundle:cli"], { cwd: ROOT, encoding: "utf8" });
  expect([made.status, made.stdout], made.stderr).toEqual([0, expect.stringContaining("coffer 0.1.0")]);
  const home = makeDirectory();
  copyFileSync(join(ROOT, "packages/cli/executable", NAME), join(home, "coffer"));
  await using stack = await openSharedStack();
  writeFileSync(join(home, "network.json"), JSON.stringify(stack.localnet.network()));
  const env = {
    ...{ PATH: "/nowhere", HOME: home, SERVICE_BASE_URL: stack.baseUrl, SERVICE_API_KEY: stack.owner.apiKey },
    ...{ SERVICE_CHAIN_PRIVATE_KEY: stack.owner.privateKey, SERVICE_NETWORK_FILE: join(home, "network.json") },
  };
  const program = [join(home, "coffer")] as const;
  const run = async (...words: string[]): Promise<string> => {
    const ran = await runProgram(words, { env, program: [...program], cwd: home });
    expect([words, ran.code, ran.err]).toEqual([words, 0, ""]);
    return ran.out;
  };
  expect(await run("version")).toContain(process.versions.node);
  expect(await run("--help")).toContain("coffer upload");
  await run("vaults", "create", "Team", "--shared");
  writeFileSync(join(home, "plan.txt"), "what only members read, in one file");
  for (const vault of ["Files", "Team"]) {
    if (vault === "Files") writeFileSync(join(home, "open.txt"), "what the service may read");
    const name = vault === "Files" ? "open.txt" : "plan.txt";
    expect(JSON.parse(await run("upload", name, "--vault", vault, "--json"))).toMatchObject({ uploaded: 1, failed: 0 });
    await run("download", `${vault}:${name}`, `copy of ${name}`);
    expect(readFileSync(join(home, `copy of ${name}`))).toEqual(readFileSync(join(home, name)));
  }
  const { code, screen } = await runInTerminal(["ls", "Team:"], {
    ...{ program: [...program], cwd: home },
    env: { ...env, PATH: process.env["PATH"] ?? "" },
  });
  expect([code, screen]).toEqual([0, expect.stringContaining("plan.txt")]);
  // Libraries of machine code are not in it.
  const { SERVICE_API_KEY: key, SERVICE_CHAIN_PRIVATE_KEY: _chainKey, ...signedOut } = env;
  const machine = { env: signedOut, program: [...program] as [string], cwd: home };
  expect((await runProgram(["login", "--api-key-stdin"], { ...machine, input: `${key}\n` })).code).toBe(0);
  const keychain = await runProgram(["config", "set", "key-store", "keychain"], machine);
  expect([keychain.code, keychain.err]).toEqual([2, expect.stringContaining("A program in one file")]);
  // The tool server is another program, and is not in it.
  const without = await runProgram(["mcp", "install", "--client", "cursor", "--allow", home], {
    ...{ env, program: [...program], cwd: home },
  });
  expect([without.code, without.err]).toEqual([
    3,
    expect.stringContaining("next: install all of coffer from where you got it"),
  ]);
});
