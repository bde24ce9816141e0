/** The built programs, on the oldest and the newest Node that their packages allow: each documented command does something. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../kit/directory.ts";
import { NODES, nodeProgram } from "./nodes.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MCP = join(ROOT, "packages/mcp/dist/main.js");
const CLI = join(ROOT, "packages/cli/dist/main.js");
const ONE_FILE = join(ROOT, "packages/cli/dist/coffer.mjs");

beforeAll(() => {
  if (![MCP, CLI, ONE_FILE].every((file) => existsSync(file)))
    throw new Error("build the programs first: npm run build");
});

/** In a home of its own, where nobody is signed in. */
function environment(): NodeJS.ProcessEnv {
  const home = makeDirectory();
  return { PATH: process.env["PATH"], HOME: home, XDG_CONFIG_HOME: join(home, ".config"), NO_COLOR: "1" };
}

function run(node: string, args: readonly string[], input = ""): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(node, args, { env: environment(), input, encoding: "utf8" });
  return { status, out: stdout, err: withoutWarnings(stderr) };
}

/** Node 22 warns of its SQLite, which the tests preload into every program. */
function withoutWarnings(stderr: string): string {
  return stderr.replace(/^\(node:\d+\) ExperimentalWarning: SQLite.*\n\(Use `node --trace-warnings.*\n/m, "");
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
});

describe.each(NODES)("on the %s Node", (which) => {
  const node = nodeProgram(which);

  it.each([
    [["--version"], 0, /^\S*\d+\.\d+\.\d+/],
    [["--help"], 0, /--allow/],
    [["status"], 0, /Claude Desktop/],
    [["install", "--client", "claude-desktop", "--allow", ".", "--dry-run"], 0, /mcpServers/],
    [["uninstall", "--client", "claude-desktop", "--dry-run"], 0, /./],
    [["audit", "verify"], 0, /./],
    [["join"], 2, /coffer-mcp join --help/],
    [["join", "no-invite", "--base-url", "http://127.0.0.1:9"], 1, /invite/],
    [["--bogus"], 2, /--bogus/],
  ])("coffer-mcp %j ends with %i", (args, status, said) => {
    const ended = run(node, [MCP, ...args]);
    expect([ended.status, ended.out + ended.err]).toEqual([status, expect.stringMatching(said)]);
    expect(ended.err).not.toMatch(/^\s+at /m);
  });

  it("coffer-mcp answers a client on stdio", () => {
    const { status, out } = run(node, [MCP, "--allow", "."], `${INITIALIZE}\n`);
    expect(JSON.parse(out.split("\n")[0] ?? "")).toMatchObject({ id: 1, result: { serverInfo: { name: "coffer" } } });
    expect(status).toBe(0);
  });

  it("coffer-mcp --http listens until it is told to stop", async () => {
    const env = { ...environment(), SERVICE_BASE_URL: "http://127.0.0.1:9" };
    const child = spawn(node, [MCP, "--http", "127.0.0.1:0"], { env });
    let said = "";
    for await (const piece of child.stderr) {
      said += String(piece);
      if (said.includes("listening at http://127.0.0.1:")) break;
    }
    expect(said).toContain("listening at");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("coffer-mcp and coffer end quietly when nobody reads on", async () => {
    for (const args of [
      [MCP, "status"],
      [MCP, "--help"],
      [CLI, "--help"],
    ]) {
      const child = spawn(node, args, { env: environment() });
      let err = "";
      child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
      child.stdout.destroy();
      await once(child, "exit");
      expect(withoutWarnings(err)).toBe("");
    }
  });

  it.each([
    [["--version"], 0, /^\S*\d+\.\d+\.\d+/],
    [["--help"], 0, /upload/],
    [["help", "upload"], 0, /--vault/],
    [["profiles", "list"], 0, /./],
    [["whoami"], 4, /coffer(?:\.mjs)? login/],
    [["completion", "bash"], 0, /complete/],
    [["uplod"], 2, /upload/],
  ])("coffer and coffer.mjs %j end with %i", (args, status, said) => {
    for (const program of [CLI, ONE_FILE]) {
      const ended = run(node, [program, ...args]);
      expect([ended.status, ended.out + ended.err]).toEqual([status, expect.stringMatching(said)]);
      expect(ended.err).not.toMatch(/^\s+at /m);
    }
  });

  it("coffer.mjs is the tool server, too", () => {
    const { status, out } = run(node, [ONE_FILE, "mcp-server", "--allow", "."], `${INITIALIZE}\n`);
    expect(JSON.parse(out.split("\n")[0] ?? "")).toMatchObject({ id: 1, result: { serverInfo: { name: "coffer" } } });
    expect(status).toBe(0);
  });
});

describe("on a Node that is too old", () => {
  const node = nodeProgram("too-old");

  it.each([
    ["coffer-mcp", MCP],
    ["coffer", CLI],
    ["coffer.mjs", ONE_FILE],
  ])("%s says in one line what it needs, what it found, and where", (name, program) => {
    const { status, out, err } = run(node, [program, "--version"]);
    expect([status, out]).toEqual([1, ""]);
    expect(err).toBe(
      `${name}: needs Node 22.18 or newer, and this is Node 20.8.1 at ${node}. Install a newer one, or run ${name} with it\n`,
    );
  });
});
