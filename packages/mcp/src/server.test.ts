import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createClient } from "@coffer/sdk";
import { serviceLinkOver } from "@coffer/tasks";
import { expect, it } from "vitest";
import { CredentialState } from "./credential-state.ts";
import { NO_CALL_RECORD } from "./call-record.ts";
import { parseFlags } from "./flags.ts";
import { createServer } from "./server.ts";

/** Over a service that nobody can reach. */
async function connect(flags: readonly string[]): Promise<Client> {
  const parsed = parseFlags(flags, {}, "0");
  if (parsed.kind !== "serve") throw new Error("the flags are not understood");
  const server = createServer({
    launch: parsed.launch,
    serviceLink: serviceLinkOver(createClient({ baseUrl: "http://127.0.0.1:1" })),
    folders: { folders: [], denied: { folders: [], files: [] } },
    stop: new AbortController().signal,
    log: () => undefined,
    handOut: () => Promise.resolve(null),
    credentialState: new CredentialState(),
    record: NO_CALL_RECORD,
    keyId: null,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(theirs);
  return client;
}

it("the list follows from flags alone: no service is asked", async () => {
  const client = await connect(["--profile", "owner"]);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("vault_create");
  expect(await client.callTool({ name: "vault_create", arguments: {} })).toMatchObject({
    structuredContent: { error: { code: "invalid_arguments" } },
  });
  await client.close();
});

it.each([
  ["the default", []],
  ["the agent profile", ["--profile", "agent"]],
  ["--read-only", ["--profile", "owner", "--read-only"]],
])("a tool that is not in the list cannot be called: %s", async (_, flags) => {
  const client = await connect(flags);
  await expect(client.callTool({ name: "vault_create", arguments: { name: "x" } })).rejects.toThrow("Unknown tool");
  await client.close();
});
