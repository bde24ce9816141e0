/** The tool server over HTTP: many keys, two protocol eras, and callers that nobody invited. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "node:http";
import { join } from "node:path";
import { startStack, type Stack } from "@coffer/devstack";
import { chainKeySigner, createClient, generateChainKey, type Client as Owner } from "@coffer/sdk";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, spawnShell, type Era, type SpawnedShell } from "../kit/mcp-http.ts";
import { signUp } from "../kit/signed-up.ts";

let stack: Stack;
let owner: Owner;
let shell: SpawnedShell;
let vaultId: string;
let sharedId: string;
let secretFileId: string;
const environment = (): Record<string, string> => ({
  SERVICE_BASE_URL: stack.baseUrl,
  SERVICE_CONFIG_DIR: join(stack.dataDirectory, "client", "http"),
});

beforeAll(async () => {
  stack = await startStack();
  const { baseUrl, sharedVaults } = stack;
  owner = createClient({ baseUrl, credentials: { apiKey: stack.apiKey }, sharedVaults });
  vaultId = (await owner.vaults.create({ name: "Team", type: "public" })).id;
  sharedId = (await owner.vaults.create({ name: "Closed", type: "shared" })).id;
  const body = new TextEncoder().encode("canary of a shared vault");
  secretFileId = (await owner.files.upload({ vaultId: sharedId, name: "secret.txt", body })).file.id;
  shell = await spawnShell(environment(), ["--profile", "owner"]);
});

afterAll(async () => {
  expect(shell.stderr()).not.toContain(stack.apiKey);
  await shell.stop();
  await stack.close();
});

type Facts = Readonly<Record<string, unknown>>;
type Called = { readonly structuredContent?: unknown; readonly [name: string]: unknown };
const factsOf = (result: Called): Facts => result.structuredContent as Facts;
const codeOf = (result: Called): string | undefined => (factsOf(result)["error"] as { code: string } | undefined)?.code;

interface AnyClient {
  call(name: string, args?: Record<string, unknown>): Promise<Called>;
  names(): Promise<string[]>;
  close(): Promise<void>;
}

async function open(kind: "sdk 1.32" | Era, key: string, url = shell.url): Promise<AnyClient> {
  if (kind === "sdk 1.32") {
    const client = new OldClient({ name: "old", version: "1" });
    const headers = { authorization: `Bearer ${key}` };
    // The transport of 1.x is typed without exactOptionalPropertyTypes.
    await client.connect(new OldTransport(new URL(url), { requestInit: { headers } }));
    return {
      call: async (name, args = {}) => await client.callTool({ name, arguments: args }),
      names: async () => (await client.listTools()).tools.map(({ name }) => name),
      close: () => client.close(),
    };
  }
  const client = await connectHttp(url, key, kind);
  return {
    call: async (name, args = {}) => await client.callTool({ name, arguments: args }),
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  };
}

describe.each([
  ["sdk 1.32", "sdk 1.32" as const],
  ["client 2.4, 2025 era", "legacy" as const],
  ["client 2.4, 2026 era", { pin: "2026-07-28" }],
])("%s over HTTP", (_, kind) => {
  it("lists the tools without those for local files, writes, reads, and finds", async () => {
    const client = await open(kind, stack.apiKey);
    const names = await client.names();
    expect(names).toContain("file_write");
    expect(names).not.toContain("file_upload");
    expect(names).not.toContain("file_download");
    const name = `${JSON.stringify(kind)}.txt`.replaceAll('"', "");
    const receipt = factsOf(await client.call("file_write", { name, text: "over HTTP", vaultId }));
    expect(receipt).toMatchObject({ bytes: 9 });
    const read = factsOf(await client.call("file_read", { file: receipt["fileId"] }));
    expect(read["text"]).toContain("over HTTP");
    expect(factsOf(await client.call("status_check"))).toMatchObject({ signedIn: true, accessLevel: "owner" });
    await client.close();
  });

  it("keeps shared vaults closed and says why", async () => {
    const client = await open(kind, stack.apiKey);
    const answers = [
      await client.call("file_read", { file: secretFileId }),
      await client.call("file_read", { file: "some path", vaultId: sharedId }),
      await client.call("file_write", { name: "x.txt", text: "x", vaultId: sharedId }),
    ];
    for (const answer of answers) {
      expect(codeOf(answer)).toBe("remote_server");
      expect(JSON.stringify(answer)).not.toContain("canary");
    }
    await client.close();
  });

  it("makes no secret that it could not hand to the user", async () => {
    const client = await open(kind, stack.apiKey);
    for (const [tool, args] of [
      ["access_grant", { name: "bot", vaultIds: [vaultId] }],
      ["webhook_set", { url: "https://example.com/hook" }],
    ] as const)
      expect(codeOf(await client.call(tool, args))).toBe("remote_server");
    expect((await owner.invites.list()).invites).toEqual([]);
    expect((await owner.webhooks.list()).webhooks).toEqual([]);
    await client.close();
  });
});

describe("a user who is asked over HTTP", () => {
  it.each([
    ["2025 era", "legacy" as const],
    ["2026 era", { pin: "2026-07-28" }],
  ])("%s: yes deletes, no does not", async (_, mode) => {
    for (const action of ["decline", "accept"] as const) {
      const { id } = await owner.folders.create({ vaultId, name: `old ${JSON.stringify(mode)} ${action}` });
      const asked: string[] = [];
      const client = await connectHttp(shell.url, stack.apiKey, mode, (message) => {
        asked.push(message);
        return { action, ...(action === "accept" ? { content: { confirm: true } } : {}) };
      });
      const done = await client.callTool({ name: "file_delete", arguments: { files: [id] } });
      expect(asked).toHaveLength(1);
      expect(codeOf(done)).toBe(action === "accept" ? undefined : "declined");
      await client.close();
    }
  });
});

describe("keys", () => {
  it("act for their own accounts alone, and do not share what was read", async () => {
    const { key, client: other } = await signUp(stack.baseUrl);
    await other.vaults.create({ name: "Others", type: "public" });
    const [ours, theirs] = [await open("legacy", stack.apiKey), await open("legacy", key)];
    expect(JSON.stringify(factsOf(await theirs.call("vault_list")))).not.toContain("Team");
    expect(JSON.stringify(factsOf(await ours.call("vault_list")))).not.toContain("Others");
    expect(codeOf(await theirs.call("file_list", { vaultId }))).toBeDefined();
    await Promise.all([ours.close(), theirs.close()]);
  });

  it("an id of another key's connection opens nothing", async () => {
    const { key } = await signUp(stack.baseUrl);
    const initialized = await post(INITIALIZE, { authorization: `Bearer ${stack.apiKey}` });
    const id = initialized.headers.get("mcp-session-id") ?? "";
    expect(id).not.toBe("");
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const stolen = await post(list, { authorization: `Bearer ${key}`, "mcp-session-id": id });
    expect(stolen.status).toBe(404);
    const own = await post(list, { authorization: `Bearer ${stack.apiKey}`, "mcp-session-id": id });
    expect(own.status).toBe(200);
    const ended = await fetch(shell.url, {
      method: "DELETE",
      headers: { authorization: `Bearer ${stack.apiKey}`, "mcp-session-id": id },
    });
    expect(ended.status).toBe(200);
  });

  it("one that the service revoked ends with the next calls", async () => {
    const { privateKey } = await generateChainKey();
    const invite = await owner.invites.create({ name: "short", vaultIds: [vaultId] });
    const { key } = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(
      invite.text,
      await chainKeySigner(privateKey),
    );
    const client = await open("legacy", key);
    expect(codeOf(await client.call("file_list", { vaultId }))).toBeUndefined();
    const [{ id } = { id: "" }] = (await owner.apiKeys.list()).apiKeys.filter(({ name }) => name === "short");
    await owner.apiKeys.revoke(id);
    expect(codeOf(await client.call("file_list", { vaultId }))).toBe("signed_out");
    await expect(client.call("file_list", { vaultId })).rejects.toThrow();
    expect((await post(INITIALIZE, { authorization: `Bearer ${key}` })).status).toBe(401);
  });
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

async function post(body: unknown, headers: Record<string, string> = {}, url = shell.url): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** With headers that fetch does not send. */
function rawStatus(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(shell.url);
    const sent = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once("error", reject);
    sent.end(JSON.stringify(INITIALIZE));
  });
}

describe("callers that nobody invited", () => {
  it("get 401 with the address of the metadata, which names the resource", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer nonsense" },
      { authorization: `Bearer cof_${"a".repeat(49)}` },
    ]) {
      const answer = await post(INITIALIZE, headers);
      expect(answer.status).toBe(401);
      const metadata = /resource_metadata="([^"]+)"/.exec(answer.headers.get("www-authenticate") ?? "")?.[1] ?? "";
      expect(await (await fetch(metadata)).json()).toMatchObject({
        resource: shell.url,
        bearer_methods_supported: ["header"],
      });
    }
  });

  it("get 403 for a strange Host or Origin, with a key too, before the key is looked at", async () => {
    const good = { authorization: `Bearer ${stack.apiKey}`, "content-type": "application/json" };
    expect(await rawStatus({ ...good, host: "evil.example" })).toBe(403);
    expect(await rawStatus({ host: "evil.example" })).toBe(403);
    expect((await post(INITIALIZE, { ...good, origin: "https://evil.example" })).status).toBe(403);
    expect((await post(INITIALIZE, { ...good, origin: "http://localhost:3000" })).status).toBe(200);
  });

  it.each([
    ["no JSON", "{", 400],
    ["a body over the limit", `"${"x".repeat(1 << 20)}"`, 413],
    ["no request", { hello: "you" }, 400],
  ])("send what is no request: %s", async (_, body, status) => {
    expect((await post(body, { authorization: `Bearer ${stack.apiKey}` })).status).toBe(status);
  });

  it("find nothing elsewhere", async () => {
    expect((await fetch(new URL("/", shell.url))).status).toBe(404);
  });
});

describe("limits", () => {
  it("a key that calls too often waits, and others do not", async () => {
    const { key } = await signUp(stack.baseUrl);
    const headers = { authorization: `Bearer ${key}` };
    const statuses: number[] = [];
    for (let round = 0; round < 50; round += 1) {
      const answers = await Promise.all(Array.from({ length: 14 }, () => post("{", headers)));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(100);
    const limited = await post("{", headers);
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post(INITIALIZE, { authorization: `Bearer ${stack.apiKey}` })).status).toBe(200);
  });
});

describe("the process", () => {
  it("refuses to hold a chain key, and folders", async () => {
    const { privateKey } = await generateChainKey();
    const chain = { ...environment(), SERVICE_CHAIN_PRIVATE_KEY: privateKey.reveal() };
    await expect(spawnShell(chain)).rejects.toThrow("holds no chain key");
    await expect(spawnShell(environment(), ["--allow", "/"])).rejects.toThrow("takes no --allow");
    await expect(spawnShell(environment(), ["--public-url", "files"])).rejects.toThrow("absolute address");
    await expect(spawnShell({})).rejects.toThrow("SERVICE_BASE_URL");
  });

  it("answers 503 while the service is away, and ends at once when it is told to", async () => {
    const away: Server = createServer((_request, response) => response.destroy());
    await new Promise<void>((resolve) => away.listen(0, "127.0.0.1", resolve));
    const { port } = away.address() as AddressInfo;
    const lonely = await spawnShell({ ...environment(), SERVICE_BASE_URL: `http://127.0.0.1:${String(port)}` });
    const answer = await post(INITIALIZE, { authorization: `Bearer ${stack.apiKey}` }, lonely.url);
    expect(answer.status).toBe(503);
    expect(await lonely.stop()).toBe(0);
    away.close();
  });
});
