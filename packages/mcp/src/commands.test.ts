import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COMMAND_NAMES, type CommandName } from "./command-names.ts";
import { runCommand } from "./commands.ts";
import { FileCallRecord } from "./call-record.ts";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "coffer-commands-"));
});

afterEach(async () => {
  await rm(home, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(
  name: CommandName,
  args: readonly string[],
  env: Record<string, string> = {},
  input = "",
): Promise<Ran> {
  let [out, err] = ["", ""];
  const code = await runCommand(name, args, {
    env: { HOME: home, SERVICE_CONFIG_DIR: join(home, "coffer"), ...env },
    launcher: { command: "/opt/node", args: ["/opt/coffer/main.js"] },
    out: (text) => (out += text),
    err: (text) => (err += text),
    readInput: () => Promise.resolve(input),
  });
  return { code, out, err };
}

describe("install, status, uninstall", () => {
  it("serve every client that is there, and name no secret", async () => {
    await mkdir(join(home, ".cursor"));
    await mkdir(join(home, ".gemini"));
    const key = `cof_${"a".repeat(49)}`;
    const env = {
      SERVICE_API_KEY: key,
      SERVICE_CHAIN_PRIVATE_KEY: `suiprivkey1${"q".repeat(60)}`,
      SERVICE_CONFIG_FILE: "/c.json",
    };
    const planned = await run("install", ["--allow", "/a", "/b", "--dry-run", "--", "--profile", "read"], env);
    expect(planned.out).toContain("Cursor: would be added");
    expect(planned.out).toContain('+        "--profile",');
    await expect(readFile(join(home, ".cursor", "mcp.json"))).rejects.toThrow("ENOENT");

    const done = await run("install", ["--allow", "/a", "/b", "--", "--profile", "read"], env);
    expect([done.code, done.err]).toEqual([0, ""]);
    const text = await readFile(join(home, ".cursor", "mcp.json"), "utf8");
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        coffer: {
          command: "/opt/node",
          args: ["/opt/coffer/main.js", "--allow", "/a", "--allow", "/b", "--profile", "read"],
          env: { SERVICE_CONFIG_FILE: "/c.json" },
        },
      },
    });
    expect(await readFile(join(home, ".gemini", "settings.json"), "utf8")).not.toContain(key);

    const states = JSON.parse((await run("status", ["--json"])).out) as {
      clients: { client: string; state: string }[];
    };
    expect(Object.fromEntries(states.clients.map(({ client, state }) => [client, state]))).toEqual({
      "claude-code": "absent",
      "claude-desktop": "absent",
      codex: "absent",
      vscode: "absent",
      cursor: "installed",
      gemini: "installed",
    });
    expect((await run("status", [])).out).toContain("Cursor");
    const removed = JSON.parse((await run("uninstall", ["--json"])).out) as { clients: { act: string }[] };
    expect(removed.clients.map(({ act }) => act)).toEqual(["removed", "removed"]);
  });

  it("go on with the other clients when the settings of one are broken", async () => {
    await mkdir(join(home, ".cursor"));
    await writeFile(join(home, ".cursor", "mcp.json"), "{");
    const { code, out, err } = await run("install", ["--client", "cursor,vscode", "--allow", "/a"]);
    expect(code).toBe(1);
    expect(err).toContain("were left as they are");
    expect(out).toContain("VS Code: added");
  });

  it.each([
    ["install", ["cursor"], "belongs to no option"],
    ["install", ["--client", "emacs"], "Unknown client"],
    ["install", ["--client", "cursor", "--", "--profle", "read"], "--profle"],
    ["install", ["--client", "cursor", "--", "--help"], "flags of the server"],
    ["install", [], "No client was found"],
    ["install", ["--client", "cursor"], "Without a folder that it may touch"],
    ["install", ["--client", "cursor", "--", "--profile", "read"], "pass --allow DIR"],
    ["status", ["--what"], "--what"],
    ["audit", [], "audit verify"],
    ["join", ["a", "b"], "address of the service"],
    ["join", ["a", "b", "--base-url", "http://127.0.0.1:1"], "one invite"],
    ["join", ["--base-url", "http://127.0.0.1:1"], "Pass the invite"],
  ] as const)("%s %j is refused in a sentence", async (name, args, words) => {
    const { code, err } = await run(name, args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });

  it("refuses a launcher that npx will remove", async () => {
    const launcher = { command: "/n", args: ["/home/me/.npm/_npx/1/main.js"] };
    let err = "";
    const context = {
      env: { HOME: home },
      launcher,
      out: () => undefined,
      err: (text: string) => (err += text),
      readInput: () => Promise.resolve(""),
    };
    expect(await runCommand("install", ["--client", "cursor"], context)).toBe(2);
    expect(err).toContain("install the package");
  });

  it.each(COMMAND_NAMES)("%s --help prints the commands", async (name) => {
    const { code, out } = await run(name, ["--help"]);
    expect([code, out.includes(`coffer-mcp ${name}`)]).toEqual([0, true]);
  });
});

describe("audit verify", () => {
  it("tells whole from damaged", async () => {
    const directory = join(home, "coffer", "audit");
    const record = new FileCallRecord(
      () => Promise.resolve(directory),
      () => new Date("2026-11-05T00:00:00Z"),
    );
    const facts = { tool: "t", args: {}, result: "ok", bytes: null, agreed: null, key: null } as const;
    await record.add(facts);
    await record.add(facts);
    const whole = await run("audit", ["verify"]);
    expect([whole.code, whole.out]).toEqual([0, expect.stringContaining("2 calls of 1 processes")]);
    const file = join(directory, "mcp-2026-11.jsonl");
    await writeFile(file, (await readFile(file, "utf8")).replace('"result":"ok"', '"result":"no"'));
    const damaged = await run("audit", ["verify", "--json"]);
    expect(damaged.code).toBe(1);
    expect(JSON.parse(damaged.out)).toMatchObject({ problems: [expect.stringContaining("mcp-2026-11.jsonl:1")] });
    expect(damaged.err).toContain("the line was changed");
  });
});
