import { api } from "@coffer/contract";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../client.ts";
import { ID, VAULT } from "../http/transport.test-kit.ts";
import { Failure, Reply } from "./index.ts";
import { mock, type Resolver } from "./msw.ts";

const FILE = {
  id: ID,
  versionId: ID,
  revision: 1,
  name: "a.txt",
  size: 3,
  contentType: "text/plain",
  sha256: "0".repeat(64),
  vaultId: ID,
  folderId: null,
  encrypted: false,
  shared: null,
  createdAt: VAULT.createdAt,
  updatedAt: VAULT.createdAt,
  createdBy: null,
  updatedBy: null,
  trashedAt: null,
};

describe("mock", () => {
  const server = setupServer();
  const client = createClient({ baseUrl: "http://mock.test", credentials: { apiKey: "any" }, retry: { limit: 0 } });
  beforeAll(() => {
    server.listen({ onUnhandledFrame: "error" });
  });
  afterEach(() => {
    server.resetHandlers();
  });
  afterAll(() => {
    server.close();
  });

  it("answers what the resolver says, with the request parsed by the contract", async () => {
    server.use(
      mock(api.files.list, ({ query }) => ({
        files: query.limit === 5 && query.trashed === true ? [FILE] : [],
        nextCursor: null,
      })),
      mock(
        api.files.get,
        ({ params }) => new Reply({ file: { ...FILE, id: params.fileId } }, { headers: { etag: '"x"' } }),
      ),
    );
    expect((await client.files.list({ limit: 5, trashed: true })).files).toHaveLength(1);
    expect((await client.files.get(ID)).sha256).toBe(FILE.sha256);
  });

  it("answers errors of the catalogue", async () => {
    server.use(
      mock(api.files.get, () => {
        throw new Failure("not_found", "File not found");
      }),
    );
    await expect(client.files.get(ID)).rejects.toMatchObject({
      code: "not_found",
      status: 404,
      message: "File not found",
    });
  });

  it("refuses a request as the server would", async () => {
    server.use(mock(api.vaults.create, () => ({ vault: VAULT })));
    const response = await fetch("http://mock.test/api/vaults", {
      method: "POST",
      body: '{"name":""}',
      headers: { "content-type": "application/json" },
    });
    expect(response.status).toBe(400);
    expect(response.headers.get("x-error-code")).toBe("validation_failed");
  });

  it("fails on an answer outside the contract", async () => {
    const broken = JSON.parse('{"file":{"id":5}}');
    server.use(mock(api.files.get, () => broken));
    await expect(client.files.get(ID)).rejects.toMatchObject({ status: 500 });
  });

  it("does not compile for an answer outside the contract", () => {
    // @ts-expect-error a field of the file is missing
    const resolver: Resolver<typeof api.vaults.get> = () => ({ vault: { id: ID } });
    expect(typeof resolver).toBe("function");
  });
});
