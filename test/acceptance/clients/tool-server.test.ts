import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "@coffer/sdk";
import { useService } from "../kit/service.ts";
import { REPOSITORY } from "../kit/stack.ts";
import { startToolServer, writeCredentials, type ToolServer } from "../kit/tool-server.ts";

const service = useService();
const PROGRAM = ["--conditions=coffer-source", join(REPOSITORY, "packages/mcp/src/main.ts")];
let scratch = "";
let credentialsFile = "";
let tools: ToolServer;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "coffer-clients-"));
  credentialsFile = await writeCredentials(join(scratch, "config"), service().server.baseUrl, service().owner.apiKey);
  tools = await startToolServer({ credentialsFile, folder: scratch });
});
afterAll(async () => {
  await tools[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

describe("the SDK", () => {
  it("is a client of the service [S1-client-sdk]", async () => {
    const client = createClient({ baseUrl: service().server.baseUrl, credentials: { apiKey: service().owner.apiKey } });
    const { file } = await client.files.upload({ name: "sdk.bin", body: randomBytes(1000) });
    expect(await client.files.get(file.id)).toEqual(file);
  });
});

describe("the service's paths", () => {
  it("are relative to the base address, also below a path of a host [S0-paths-relative]", async () => {
    const seen: string[] = [];
    const client = createClient({
      baseUrl: "http://gateway.test/storage",
      credentials: { apiKey: service().owner.apiKey },
      transport: (request) => {
        seen.push(request.url);
        const path = request.url.replace("http://gateway.test/storage", service().server.baseUrl);
        return fetch(path, { headers: request.headers });
      },
    });
    expect((await client.account.get()).account.id).toBe(service().owner.id);
    expect(seen).toEqual(["http://gateway.test/storage/api/account"]);
  });
});

describe("the tool server", () => {
  it("serves an agent's host through a 1.x client [S1-client-tools D0-mcp-v1-client]", async () => {
    expect(await tools.toolNames()).toEqual(expect.arrayContaining(["account_get", "file_upload", "file_download"]));
    const path = join(scratch, "tools.bin");
    await writeFile(path, randomBytes(1000));
    const { vaults } = await createClient({
      baseUrl: service().server.baseUrl,
      credentials: { apiKey: service().owner.apiKey },
    }).vaults.list();
    const answer = await tools.call("file_upload", { path, vaultId: vaults[0]?.id });
    expect(answer.isError, answer.wire).toBe(false);
    expect(answer.facts).toMatchObject({ bytes: 1000 });
  });

  it.each(["2025-11-25", "2026-07-28"])("answers revision %s [D0-mcp-library]", async (revision) => {
    const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
    const client = new ModernClient({ name: "coffer-acceptance", version: "1.0.0" }, { versionNegotiation: { mode } });
    const transport = new ModernTransport({
      command: process.execPath,
      args: [...PROGRAM, "--config", credentialsFile],
    });
    await client.connect(transport);
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(revision);
      expect((await client.callTool({ name: "account_get", arguments: {} })).isError).not.toBe(true);
    } finally {
      await client.close();
    }
  });

  it("finds its configuration by --config and by SERVICE_CONFIG_FILE [D0-tool-config-file]", async () => {
    for (const [args, env] of [
      [["--config", credentialsFile], {}],
      [[], { SERVICE_CONFIG_FILE: credentialsFile }],
    ] as const) {
      const client = new ModernClient({ name: "coffer-acceptance", version: "1.0.0" });
      await client.connect(new ModernTransport({ command: process.execPath, args: [...PROGRAM, ...args], env }));
      const answer = await client.callTool({ name: "account_get", arguments: {} });
      await client.close();
      expect(answer.isError).not.toBe(true);
      expect(JSON.stringify(answer)).toContain(service().owner.id);
    }
  });

  it("keeps the MCP libraries out of its tools, registry and result shaping [D0-registry-library-free]", async () => {
    const source = join(REPOSITORY, "packages/mcp/src");
    const inTools = (await readdir(join(source, "tools"))).map((name) => join("tools", name));
    const files = [...inTools, "registry.ts", "result.ts", "tool.ts"].filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(8);
    for (const file of files) {
      expect(await readFile(join(source, file), "utf8"), file).not.toContain('from "@modelcontextprotocol/');
    }
  });
});
