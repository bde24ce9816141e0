import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "@coffer/sdk";
import { makeDirectory } from "../../kit/directory.ts";
import { useService } from "../kit/service.ts";
import { startToolServer, writeCredentials, type ToolServer } from "../kit/tool-server.ts";

const service = useService();
const scratch = makeDirectory();
let credentialsFile = "";
let tools: ToolServer;

beforeAll(async () => {
  credentialsFile = await writeCredentials(join(scratch, "config"), service().server.baseUrl, service().owner.apiKey);
  tools = await startToolServer({ credentialsFile, folder: scratch });
});
afterAll(async () => {
  await tools[Symbol.asyncDispose]();
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
    expect(await tools.toolNames()).toEqual(expect.arrayContaining(["status_check", "file_upload", "file_download"]));
    const path = join(scratch, "tools.bin");
    await writeFile(path, randomBytes(1000));
    const { vaults } = await createClient({
      baseUrl: service().server.baseUrl,
      credentials: { apiKey: service().owner.apiKey },
    }).vaults.list();
    const answer = await tools.call("file_upload", { paths: [path], vaultId: vaults[0]?.id });
    expect(answer.isError, answer.wire).toBe(false);
    expect(answer.facts).toMatchObject({ bytes: 1000 });
  });
});
