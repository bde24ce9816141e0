/** Clients of both libraries and both eras over HTTP, and every legacy revision over both transports. */
import { join } from "node:path";
import { openToolClient, launcherCommand, startStack, type Stack } from "@coffer/devstack";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createClient } from "@coffer/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, spawnShell, type SpawnedShell } from "../kit/mcp-http.ts";

let stack: Stack;
let shell: SpawnedShell;
let environment: Record<string, string>;

beforeAll(async () => {
  stack = await startStack();
  const { baseUrl, apiKey } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey } });
  const vault = await owner.vaults.create({ name: "Interop", type: "public" });
  await owner.files.upload({ vaultId: vault.id, name: "one.txt", body: "the text" });
  environment = { SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client", "interop") };
  shell = await spawnShell({ SERVICE_BASE_URL: baseUrl, ...environment });
});

afterAll(async () => {
  await shell.stop();
  await stack.close();
});

interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: unknown[] }>;
  listPrompts(): Promise<{ prompts: unknown[] }>;
  callTool(request: { name: string; arguments: Record<string, unknown> }): Promise<{ [name: string]: unknown }>;
  readResource(request: { uri: string }): Promise<{ contents: object[] }>;
  close(): Promise<void>;
}

const authorization = () => ({ authorization: `Bearer ${stack.apiKey}` });

async function legacyOverHttp(): Promise<AnyClient> {
  const client = new LegacyClient({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(shell.url), {
    requestInit: { headers: authorization() },
  });
  await client.connect(transport);
  return client;
}

const OVER_HTTP: Readonly<Record<string, () => Promise<AnyClient>>> = {
  "sdk 1.32": legacyOverHttp,
  "client 2.4, 2025 era": () => connectHttp(shell.url, stack.apiKey, "legacy"),
  "client 2.4, 2026 era": () => connectHttp(shell.url, stack.apiKey, { pin: "2026-07-28" }),
};

describe.each(Object.entries(OVER_HTTP))("%s over HTTP", (_name, connect) => {
  it("lists, calls, reads, and gets failures in both halves", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["status_check", "file_search"]));
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(1);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    const place = { file: "one.txt", vaultId: "Interop" };
    const read = await client.callTool({ name: "file_read", arguments: place });
    expect(JSON.stringify(read["structuredContent"])).toContain("the text");
    const missing = await client.callTool({ name: "file_read", arguments: { ...place, file: "none.txt" } });
    expect(missing).toMatchObject({ isError: true, structuredContent: { error: { code: "not_found" } } });
    expect(JSON.stringify(missing["content"])).toContain("not_found");
    const resource = await client.readResource({ uri: "coffer://vaults/Interop/files/one.txt" });
    expect(JSON.stringify(resource.contents)).toContain("the text");
    await client.close();
  });
});

const LEGACY = ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

describe("every revision before 2026", () => {
  const hello = (protocolVersion: string) => ({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });

  it.each(LEGACY)("%s is spoken over stdio", async (revision) => {
    const { command, args } = launcherCommand();
    const transport = new StdioClientTransport({ command, args: [...args], stderr: "pipe" });
    const answered = new Promise<unknown>((resolve) => (transport.onmessage = resolve));
    await transport.start();
    await transport.send(hello(revision) as Parameters<typeof transport.send>[0]);
    expect(await answered).toMatchObject({ result: { protocolVersion: revision } });
    await transport.close();
  });

  it.each(LEGACY.slice(2))("%s is spoken over HTTP", async (revision) => {
    const accept = "application/json, text/event-stream";
    const response = await fetch(shell.url, {
      method: "POST",
      headers: { ...authorization(), "content-type": "application/json", accept },
      body: JSON.stringify(hello(revision)),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain(`"protocolVersion":"${revision}"`);
  });
});

it("tools answer the same over stdio and HTTP, but for their marks", async () => {
  await using tools = await openToolClient({
    credentialsFile: stack.credentialsFile,
    folders: [],
    launcher: launcherCommand(),
    environment,
  });
  const client = await legacyOverHttp();
  const given = { name: "file_list", arguments: { vaultId: "Interop" } };
  const { text } = await tools.call(given.name, given.arguments);
  const remote = (await client.callTool(given))["content"] as { text: string }[];
  const bare = (words: string): string => words.replaceAll(/<\/?[\w-]{8}>/g, "<>");
  expect(bare(remote[0]?.text ?? "")).toBe(bare(text));
  await client.close();
});
