/** `coffer.mjs`, as it is built: nothing is beside it. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openToolClient } from "@coffer/devstack";
import { runInTerminal, runProgram, type ProgramRan } from "../kit/coffer-program.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openSharedStack, type SharedStack } from "../kit/shared-stack.ts";

const BUILT = join(import.meta.dirname, "../../packages/cli/dist/coffer.mjs");

let stack: SharedStack;
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  stack = await openSharedStack();
  home = makeDirectory();
  mkdirSync(join(home, "tmp"));
  copyFileSync(BUILT, join(home, "coffer.mjs"));
  const networkFile = join(home, "network.json");
  writeFileSync(networkFile, JSON.stringify(stack.localnet.network()));
  env = {
    // Elsewhere than the home, which stands for one that stays.
    HOME: home,
    TMPDIR: join(home, "tmp"),
    SERVICE_BASE_URL: stack.baseUrl,
    SERVICE_API_KEY: stack.owner.apiKey,
    SERVICE_CHAIN_PRIVATE_KEY: stack.owner.privateKey,
    SERVICE_NETWORK_FILE: networkFile,
  };
});

afterAll(async () => {
  await stack[Symbol.asyncDispose]();
});

const program = (file = join(home, "coffer.mjs")) => [process.execPath, file] as const;

async function run(...words: string[]): Promise<string> {
  const ran = await runProgram(words, { env, program: [...program()], cwd: home });
  expect([words, ran.code, ran.err]).toEqual([words, 0, ""]);
  return ran.out;
}

it("shows its version and help, and moves files of both kinds of vaults", async () => {
  expect(await run("version")).toContain(process.versions.node);
  expect(await run("--help")).toContain("coffer upload");
  await run("vaults", "create", "Team", "--shared");
  for (const vault of ["Files", "Team"]) {
    const name = vault === "Files" ? "open.txt" : "plan.txt";
    writeFileSync(join(home, name), `Of ${vault}, ${crypto.randomUUID()}\n`);
    expect(JSON.parse(await run("upload", name, "--vault", vault, "--json"))).toMatchObject({ uploaded: 1, failed: 0 });
    await run("download", `${vault}:${name}`, `copy of ${name}`);
    expect(readFileSync(join(home, `copy of ${name}`))).toEqual(readFileSync(join(home, name)));
  }
  const { code, screen } = await runInTerminal(["ls", "Team:"], { program: [...program()], cwd: home, env });
  expect([code, screen]).toEqual([0, expect.stringContaining("plan.txt")]);
});

describe("mcp install", () => {
  const install = (file: string, more: Record<string, string> = {}): Promise<ProgramRan> =>
    runProgram(["mcp", "install", "--client", "cursor", "--allow", home], {
      env: { ...env, ...more },
      program: [...program(file)],
      cwd: home,
    });

  it("registers the file as the tool server, which a client starts with it alone", async () => {
    const { code, err } = await install(join(home, "coffer.mjs"));
    expect([code, err]).toEqual([0, ""]);
    const text = readFileSync(join(home, ".cursor", "mcp.json"), "utf8");
    const { mcpServers } = JSON.parse(text) as { mcpServers: { coffer: { command: string; args: string[] } } };
    const { command, args } = mcpServers.coffer;
    expect([command, args.slice(0, 2)]).toEqual([process.execPath, [join(home, "coffer.mjs"), "mcp-server"]]);
    await using tools = await openToolClient({
      launcher: { command, args },
      folders: [],
      credentialsFile: join(home, "none.json"),
      environment: env,
    });
    const listed = await tools.call("vault_list", {});
    expect([listed.isError, listed.text]).toEqual([false, expect.stringContaining("Files")]);
  });

  it.each([
    ["that the system empties", "tmp/coffer.mjs", 0o700, "is in a temporary directory"],
    ["in a directory that others can write to", "open/coffer.mjs", 0o777, "Others can write to"],
    ["in one where they can put what was removed", "sticky/coffer.mjs", 0o1777, "Others can write to"],
    ["in one that a group can write to", "group/coffer.mjs", 0o775, "Others can write to"],
    ["below a directory that others can write to", "above/mine/coffer.mjs", 0o777, "Others can write to"],
  ])("refuses a path %s", async (_kind, name, mode, said) => {
    const [first = ""] = name.split("/");
    const file = join(home, name);
    mkdirSync(join(file, ".."), { recursive: true });
    copyFileSync(BUILT, file);
    chmodSync(join(home, first), mode);
    const { code, out, err } = await install(file, { HOME: join(home, "nobody") });
    expect([code, out, err]).toEqual([2, "", expect.stringContaining(said)]);
  });

  it("refuses a file that others can write to", async () => {
    const file = join(home, "writable.mjs");
    copyFileSync(BUILT, file);
    chmodSync(file, 0o666);
    const { code, err } = await install(file);
    expect([code, err]).toEqual([2, expect.stringContaining(`Others can write to ${file}`)]);
  });
});
