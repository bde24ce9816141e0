/** From nothing to an agent's first encrypted upload, as a new user would: the commands are counted. */
import { spawn, spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openToolClient } from "@coffer/devstack";
import { afterAll, beforeAll, expect, it } from "vitest";
import { COFFER } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

const root = makeDirectory();
const bin = join(root, "bin");
let stack: SharedStack;

beforeAll(async () => {
  stack = await openSharedStack();
  await mkdir(bin);
  const [node, script] = COFFER;
  // As npm links it. Nothing may ask npx for it: the name is not the project's there.
  await writeFile(join(bin, "coffer"), `#!/bin/sh\nexec '${node}' '${script ?? ""}' "$@"\n`);
  await writeFile(join(bin, "npx"), "#!/bin/sh\necho npx was asked >&2\nexit 1\n");
  for (const name of ["coffer", "npx"]) await chmod(join(bin, name), 0o755);
  await writeFile(join(root, "network.json"), JSON.stringify(stack.localnet.network()));
});

afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

/** Everybody has a machine of their own: a home, and a shell. Lines are counted as they are typed. */
async function machine(name: string) {
  const home = join(root, name);
  await mkdir(join(home, "shared"), { recursive: true });
  const typed: string[] = [];
  const env = {
    HOME: home,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    SERVICE_NETWORK_FILE: join(root, "network.json"),
  };
  return {
    home,
    typed,
    type: async (line: string): Promise<string> => {
      typed.push(line);
      // The service is in this process: a child that is waited for would wait for ever.
      const child = spawn("/bin/sh", ["-c", line], { env, cwd: home });
      const texts = await Promise.all([child.stdout, child.stderr].map((stream) => stream.toArray()));
      const [out = "", err = ""] = texts.map((pieces) => Buffer.concat(pieces as Buffer[]).toString());
      expect([line, child.exitCode ?? (await new Promise((ended) => child.once("exit", ended))), err]).toEqual([
        line,
        0,
        "",
      ]);
      return out;
    },
  };
}

it("at most 4 owner commands and 1 agent command [issue 19]", async () => {
  const owner = await machine("owner");
  const agent = await machine("agent");
  await mkdir(join(agent.home, ".cursor"));

  await owner.type(`coffer signup --dev --email ada@example.com --base-url ${stack.baseUrl}`);
  await owner.type('coffer vaults create "Team" --shared');
  const prompt = await owner.type("coffer invites create --name bot --vaults Team --prompt");
  const login = /^\s*echo \S+ \| coffer login .*$/m.exec(prompt)?.[0].trim();
  expect(login, prompt).toBeDefined();
  const joined = await agent.type(login ?? "");
  const approve = /^\s*coffer agents list --approve 0x[0-9a-f]{64}$/m.exec(joined)?.[0].trim();
  expect(approve, joined).toBeDefined();
  // Nobody is there to be asked.
  await owner.type(`${approve ?? ""} --yes --quiet`);
  expect([owner.typed.length, agent.typed.length]).toEqual([4, 1]);

  await writeFile(join(agent.home, "shared", "plan.txt"), "the first words that the agent stores");
  await using tools = await openToolClient({
    credentialsFile: join(agent.home, ".config", "coffer", "config.json"),
    folders: [join(agent.home, "shared")],
    environment: { HOME: agent.home },
  });
  const stored = await tools.call("file_upload", { paths: [join(agent.home, "shared", "plan.txt")] });
  expect(stored).toMatchObject({ isError: false });
  const read = await owner.type('coffer download "Team:plan.txt" copy.txt');
  expect(read).toContain("copy.txt");
  expect(await readFile(join(owner.home, "copy.txt"), "utf8")).toBe("the first words that the agent stores");
  expect(spawnSync("grep", ["-r", "first words", join(stack.dataDirectory)]).status).toBe(1);
});
