import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { createClient } from "@coffer/sdk";
import { type KnownAccess, sessionOver } from "@coffer/tasks";
import { expect, it } from "vitest";
import { parseFlags } from "./flags.ts";
import { createServer } from "./server.ts";

/** Over a key whose access the service tells only to who waits longer than the first list does. */
async function connect(flags: readonly string[], told: KnownAccess): Promise<Client> {
  const parsed = parseFlags(flags, {}, "0");
  if (parsed.kind !== "serve") throw new Error("the flags are not understood");
  const server = createServer({
    launch: parsed.launch,
    session: {
      ...sessionOver(createClient({ baseUrl: "http://127.0.0.1:1" })),
      access: (waitMs) => Promise.resolve(waitMs < 10_000 ? "unknown" : told),
    },
    folders: { folders: [], denied: { folders: [], files: [] } },
    stop: new AbortController().signal,
    log: () => undefined,
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(theirs);
  return client;
}

it("an owner's tool that the list left out, since the service was slow, is there when it is called", async () => {
  const client = await connect([], "owner");
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("vault_create");
  expect(await client.callTool({ name: "vault_create", arguments: {} })).toMatchObject({
    structuredContent: { error: { code: "invalid_arguments" } },
  });
  await client.close();
});

it.each([
  ["an agent's key", [], "agent"],
  ["a key nobody told of", [], "unknown"],
  ["the agent profile", ["--profile", "agent"], "owner"],
  ["--read-only", ["--read-only"], "owner"],
] as const)("and is not for %s", async (_, flags, told) => {
  const client = await connect(flags, told);
  await expect(client.callTool({ name: "vault_create", arguments: { name: "x" } })).rejects.toThrow("Unknown tool");
  await client.close();
});
