import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { renderKey } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { listenOnLoopback, type LoopbackServer } from "../../../test/kit/loopback.ts";
import { TOOLS } from "./registry.ts";
import { TOOL_NAMES } from "./tool-list.ts";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const KEY = renderKey(new Uint8Array(32).fill(9));

const AGENT_TOOLS = TOOLS.filter(({ profile }) => profile !== "owner").map(({ name }) => name);

const folder = makeDirectory();

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<{ [name: string]: unknown }>;
  getInstructions(): string | undefined;
  close(): Promise<void>;
}

const parameters = (env: Record<string, string>, flags: string[]) => ({
  command: process.execPath,
  args: [MAIN, "--allow", folder, ...flags],
  env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
  stderr: "pipe" as const,
});

const CLIENTS: Record<string, (env?: Record<string, string>, flags?: string[]) => Promise<AnyClient>> = {
  "sdk 1.32": async (env = {}, flags = []) => {
    const client = new LegacyClient({ name: "test", version: "1" });
    await client.connect(new LegacyTransport(parameters(env, flags)));
    return client;
  },
  "client 2.4, 2025 era": async (env = {}, flags = []) => {
    const client = new ModernClient({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(new ModernTransport(parameters(env, flags)));
    return client;
  },
  "client 2.4, 2026 era": async (env = {}, flags = []) => {
    const client = new ModernClient(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    await client.connect(new ModernTransport(parameters(env, flags)));
    return client;
  },
};

function account(accessLevel: string): object {
  const createdAt = "2026-01-01T00:00:00.000Z";
  const limits = {
    storageBytes: 1000,
    fileBytes: 500,
    rawUploadBytes: 500,
    vaults: 1,
    apiKeys: 1,
    invites: 1,
    folderDepth: 1,
  };
  const id = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";
  return {
    account: {
      id,
      email: "a@example.com",
      emailVerified: false,
      name: null,
      accessLevel,
      chainAddress: null,
      chainAddressSource: null,
      plan: "pro",
      usage: { bytes: 0, files: 0, versionBytes: 0 },
      limits,
      createdAt,
    },
    // A name that holds the key: whatever the service says, the key does not leave this process.
    credential: {
      kind: "api-key",
      id,
      name: `laptop ${KEY}`,
      scopes: null,
      vaultIds: null,
      chainAddress: null,
      expiresAt: null,
      budgets: null,
      budgetUse: null,
    },
  };
}

/** Before an upload the client asks whether the vault is a shared one. */
const PUBLIC_VAULT = {
  id: "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b",
  name: "v",
  type: "public",
  chainObjectId: null,
  isDefault: true,
  role: "owner",
  generation: null,
  plainNames: null,
  keepVersionsDays: null,
  trashedAt: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

/** A service that knows one account, and whose byte bodies never end. */
async function startStub(
  answer: (path: string) => { status: number; body: object } | null,
): Promise<LoopbackServer & { seen: string[] }> {
  const seen: string[] = [];
  const server = await listenOnLoopback((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    seen.push(`${request.method ?? ""} ${path}`);
    const found = answer(path);
    if (found === null) return;
    const headers = {
      "content-type": "application/json",
      ...(found.status === 401 ? { "x-error-code": "invalid_credential" } : {}),
    };
    response.writeHead(found.status, headers).end(JSON.stringify(found.body));
  });
  return { ...server, seen };
}

describe.each(Object.entries(CLIENTS))("%s over stdio [D0-mcp-library] [D0-mcp-v1-client]", (_name, connect) => {
  it("without credentials starts, lists its tools, and says how to sign in", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(AGENT_TOOLS);
    const result = await client.callTool({ name: "vault_list", arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "signed_out", retryable: false } },
    });
    expect(JSON.stringify(result["content"])).toContain("SERVICE_API_KEY");
    expect(client.getInstructions()).toContain("file_upload");
    await client.close();
  });

  it("lists what its flags name without asking the service, and never shows the key", async () => {
    await using stub = await startStub((path) =>
      path === "/api/account" ? { status: 200, body: account("agent") } : null,
    );
    const client = await connect({ SERVICE_API_KEY: KEY, SERVICE_BASE_URL: stub.baseUrl }, ["--profile", "owner"]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(TOOL_NAMES);
    expect(stub.seen).toEqual([]);
    const result = await client.callTool({ name: "status_check", arguments: {} });
    expect(result["isError"]).not.toBe(true);
    expect(JSON.stringify(result)).toContain("laptop [redacted]");
    expect(JSON.stringify(result)).not.toContain(KEY);
    await client.close();
  });

  it("status_check answers although the service hangs", async () => {
    await using stub = await startStub(() => null);
    const client = await connect({ SERVICE_API_KEY: KEY, SERVICE_BASE_URL: stub.baseUrl });
    const times: number[] = [];
    // It gives itself 4 s. A busy machine delays some of the three.
    while (times.length < 3 && !times.some((time) => time < 5_000)) {
      const started = performance.now();
      const result = await client.callTool({ name: "status_check", arguments: {} });
      times.push(performance.now() - started);
      expect(result["structuredContent"]).toMatchObject({ signedIn: false, problem: "unreachable" });
    }
    expect(Math.min(...times)).toBeLessThan(5_000);
    await client.close();
  }, 30_000);

  it("a refused key is signed_out, and the config file stays as it is", async () => {
    await using stub = await startStub(() => ({ status: 401, body: { error: "Missing or invalid credential" } }));
    const file = join(folder, "config.json");
    const content = JSON.stringify({
      version: 1,
      defaultProfile: "default",
      profiles: { default: { baseUrl: stub.baseUrl, apiKey: KEY } },
    });
    await writeFile(file, content, { mode: 0o600 });
    const client = await connect({ SERVICE_CONFIG_FILE: file });
    const result = await client.callTool({ name: "vault_list", arguments: {} });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: "signed_out" } } });
    const { readFile } = await import("node:fs/promises");
    expect(await readFile(file, "utf8")).toBe(content);
    await client.close();
  });

  it.each([
    ["SERVICE_CONFIG_FILE", (file: string) => connect({ SERVICE_CONFIG_FILE: file })],
    ["--config", (file: string) => connect({}, ["--config", file])],
  ])("reads the config file that %s names [D0-tool-config-file]", async (_way, start) => {
    const file = join(folder, "other.json");
    const profiles = { default: { baseUrl: "http://127.0.0.1:9", apiKey: KEY } };
    await writeFile(file, JSON.stringify({ version: 1, defaultProfile: "default", profiles }), { mode: 0o600 });
    const client = await start(file);
    const status = await client.callTool({ name: "status_check", arguments: {} });
    expect(status["structuredContent"]).toMatchObject({
      configFile: file,
      baseUrl: profiles.default.baseUrl,
      keyFrom: "profile",
    });
    expect(JSON.stringify(status)).not.toContain(KEY);
    await client.close();
  });

  it("answers wrong arguments in its own words, and does not repeat them", async () => {
    const client = await connect();
    const result = await client.callTool({ name: "file_list", arguments: { limit: "</x> obey" } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: "invalid_arguments" } } });
    expect(JSON.stringify(result)).toContain("limit: ");
    expect(JSON.stringify(result)).not.toContain("obey");
    await client.close();
  });

  it("does not know tools that it does not list", async () => {
    const client = await connect({}, ["--exclude-tools", "file_delete"]);
    await expect(client.callTool({ name: "file_delete", arguments: {} })).rejects.toThrow("Unknown tool");
    await client.close();
  });
});

describe("the process", () => {
  it("refuses to start with what it does not understand, and says so on stderr only", async () => {
    for (const flags of [
      ["--alow", "/tmp"],
      ["--tools", "file_lst"],
    ]) {
      const child = spawn(process.execPath, [MAIN, ...flags], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, err] = [await collect(child.stdout), await collect(child.stderr)];
      expect(out).toBe("");
      expect(err).toContain(flags[0] === "--tools" ? "file_lst" : "--alow");
      expect(child.exitCode ?? (await once(child, "exit"))[0]).toBe(2);
    }
  });

  it("is gone at once when stdin ends and nothing is under way", async () => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) times.push(await timeOfIdleExit());
    // With a call under way it waits for 100 ms. A busy machine delays some of the five.
    expect(Math.min(...times)).toBeLessThan(1_000);
  });

  async function timeOfIdleExit(): Promise<number> {
    const child = spawn(process.execPath, [MAIN], { stdio: ["pipe", "pipe", "pipe"] });
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize })}\n`);
    await once(child.stdout, "data");
    const start = performance.now();
    child.stdin.end();
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(0);
    return performance.now() - start;
  }

  it("is gone soon after stdin ends, even in the middle of an upload that nobody answers", async () => {
    await using stub = await startStub((path) => {
      if (path === "/api/account") return { status: 200, body: { ...account("owner") } };
      if (path.startsWith("/api/vaults/")) return { status: 200, body: { vault: PUBLIC_VAULT } };
      return path === "/api/files" ? null : { status: 404, body: { error: "Not found" } };
    });
    await writeFile(join(folder, "b.txt"), "b");
    // It gives itself 100 ms. A busy machine delays some of the five.
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) times.push(await timeToExit(stub));
    expect(Math.min(...times)).toBeLessThan(2_000);
  });

  it("is gone when its parent was killed, with an upload under way", async () => {
    await using stub = await startStub((path) => {
      if (path === "/api/account") return { status: 200, body: { ...account("owner") } };
      return path.startsWith("/api/vaults/") ? { status: 200, body: { vault: PUBLIC_VAULT } } : null;
    });
    await writeFile(join(folder, "b.txt"), "b");
    const env = { ...process.env, HOME: folder, SERVICE_API_KEY: KEY, SERVICE_BASE_URL: stub.baseUrl };
    const given = JSON.stringify([process.execPath, [MAIN, "--allow", folder]]);
    const parent = spawn(process.execPath, ["-e", PARENT, given, uploadFrames()], { env });
    const childId = Number(String((await once(parent.stdout, "data"))[0]));
    while (!stub.seen.includes("POST /api/files")) await rest();
    expect(isAlive(childId)).toBe(true);
    parent.kill("SIGKILL");
    const start = performance.now();
    while (isAlive(childId) && performance.now() - start < 10_000) await rest();
    expect(isAlive(childId)).toBe(false);
  });

  /** Starts a tool server, writes frames to it, and waits to be killed. */
  const PARENT = `
    const [, given, frames] = process.argv;
    const child = require("node:child_process").spawn(...JSON.parse(given), { stdio: ["pipe", "pipe", "ignore"] });
    child.stdin.write(frames);
    process.stdout.write(String(child.pid));
    setInterval(() => undefined, 1000);`;

  function uploadFrames(): string {
    const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const upload = {
      name: "file_upload",
      arguments: { paths: ["b.txt"], vaultId: PUBLIC_VAULT.id, idempotencyKey: "k" },
    };
    return [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: upload },
    ]
      .map((frame) => `${JSON.stringify(frame)}\n`)
      .join("");
  }

  async function timeToExit(stub: { baseUrl: string; seen: string[] }): Promise<number> {
    const env = { HOME: folder, SERVICE_API_KEY: KEY, SERVICE_BASE_URL: stub.baseUrl };
    const child = spawn(process.execPath, [MAIN, "--allow", folder], {
      env,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const written = collect(child.stdout);
    stub.seen.length = 0;
    child.stdin.write(uploadFrames());
    while (!stub.seen.includes("POST /api/files")) await rest();
    const start = performance.now();
    child.stdin.end();
    const [code] = (await once(child, "exit")) as [number | null];
    const time = performance.now() - start;
    expect(code).toBe(0);
    // The protocol, and nothing else.
    for (const line of (await written).trimEnd().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    return time;
  }
});

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A process that ended is a zombie until somebody asks for its code. */
function isAlive(id: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${String(id)}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}
