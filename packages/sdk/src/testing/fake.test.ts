/** What the fake covers, what it says of the rest, and how a test answers in its place. */
import { kyTransport } from "../http/transports.ts";
import { api } from "@coffer/contract";
import { setupServer } from "msw/node";
import { describe, expect, it, vi } from "vitest";
import { createClient, type Client } from "../index.ts";
import { openService } from "../connection/service.test-kit.ts";
import { createFake, Failure } from "./index.ts";
import { handlers, mock } from "./msw.ts";

describe("the fake", () => {
  it("covers these endpoints", () => {
    expect(createFake().endpoints).toEqual([
      "development.signup",
      "account.get",
      ...["create", "list", "get", "update", "delete", "restore"].map((name) => `vaults.${name}`),
      ...["create", "list", "get", "update", "delete", "restore"].map((name) => `folders.${name}`),
      ...["upload", "content", "replace", "batch"].map((name) => `files.${name}`),
      ...["list", "get", "update", "delete", "restore", "trashMany", "restoreMany", "moveMany", "commit"].map(
        (name) => `files.${name}`,
      ),
      ...["create", "head", "append", "terminate"].map((name) => `uploads.${name}`),
      ...["list", "empty"].map((name) => `trash.${name}`),
      ...["list", "create", "get", "update", "delete"].map((name) => `webhooks.${name}`),
    ]);
  });

  it.each<[string, (client: Client) => unknown]>([
    ["invites.create (POST /api/invites)", (client) => client.invites.create({ name: "agent" })],
    ["files.search (GET /api/files/search)", (client) => client.files.search({ q: "a" })],
    ["auth.login (POST /api/auth/login)", (client) => client.auth.login({ email: "a@example.com", password: "long" })],
  ])("names the endpoint that it does not cover, and how to mock it: %s", async (name, call) => {
    const { client } = await openService();
    const id = name.split(" ")[0] ?? "";
    await expect(call(client)).rejects.toMatchObject({
      code: "not_configured",
      status: 501,
      retryable: false,
      message: expect.stringMatching(new RegExp(`${id}.*fake.mock\\(api.${id}, resolver\\)`)) as string,
    });
  });

  it("has an account and its key for who asks", async () => {
    const { apiKey, fetch } = createFake();
    const client = createClient({ baseUrl: "http://fake.test", transport: fetch, credentials: { apiKey } });
    expect((await client.account.get()).account.email).toBe("owner@fake.test");
    expect((await client.vaults.list()).items).toMatchObject([{ name: "Files" }]);
  });

  it("keeps no versions, and says so", async () => {
    const { client } = await openService();
    const { file } = await client.files.upload({ name: "a", body: "one" });
    const { file: next } = await client.files.replace(file.id, { body: "two" });
    await expect(client.files.download(file.id, { versionId: file.versionId })).rejects.toMatchObject({
      code: "not_configured",
    });
    expect(await (await client.files.download(file.id, { versionId: next.versionId })).bytes()).toHaveLength(3);
  });
});

describe("a mock", () => {
  it("answers what the fake does not cover, until it ends", async () => {
    const { client, fake } = await openService();
    const end = fake.mock(api.sessions.list, ({ query }) => ({
      sessions: [],
      nextCursor: `after ${query.cursor ?? "nothing"}`,
    }));
    expect((await client.sessions.list({ cursor: "one" })).nextCursor).toBe("after one");
    end();
    await expect(client.sessions.list()).rejects.toMatchObject({ code: "not_configured" });
  });

  it("fails a call once, and the client repeats it", async () => {
    const { client, fake } = await openService();
    const resolver = vi.fn(() => {
      end();
      throw new Failure("rate_limited", undefined, { "retry-after": "0" });
    });
    const end = fake.mock(api.files.upload, resolver);
    expect((await client.files.upload({ name: "a", body: "one" })).file.name).toBe("a");
    expect(resolver).toHaveBeenCalledTimes(1);
  });

  it("breaks the connection with any other error", async () => {
    const { connect, fake } = await openService();
    fake.mock(api.vaults.list, () => {
      throw new TypeError("fetch failed");
    });
    const client = connect({ retry: { limit: 0 } });
    await expect(client.vaults.list()).rejects.toMatchObject({ code: "connection_failed" });
  });

  it("stands before the fake in MSW", async () => {
    const fake = createFake();
    const baseUrl = "http://mock.test";
    const server = setupServer(
      mock(api.trash.empty, () => {
        throw new Failure("unavailable");
      }),
      ...handlers(fake, { baseUrl }),
    );
    server.listen({ onUnhandledFrame: "error" });
    try {
      const { connect } = await openService(fake);
      const client = connect({ baseUrl, transport: kyTransport(), retry: { limit: 0 } });
      await expect(client.trash.empty()).rejects.toMatchObject({ code: "unavailable" });
      expect((await client.trash.list()).files).toEqual([]);
    } finally {
      server.close();
    }
  });
});
