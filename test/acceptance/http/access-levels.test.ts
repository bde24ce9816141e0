import { beforeAll, describe, expect, it } from "vitest";
import { createKey } from "../kit/account.ts";
import { newChainKey } from "../kit/chain.ts";
import { expectError, expectStatus, fieldsAt, objectIn, textIn } from "../kit/answers.ts";
import { useService, type Agent } from "../kit/service.ts";

const service = useService();
let agent: Agent;

beforeAll(async () => {
  agent = await service().inviteAgent();
});

async function levelOf(key: string): Promise<unknown> {
  return objectIn(fieldsAt(await service().ask("GET", "/api/account", { key }), 200), "account")["accessLevel"];
}

const asAgent = (method: string, path: string, body?: object) =>
  service().ask(method, path, { key: agent.key, ...(body === undefined ? {} : { body }) });

describe("the access level", () => {
  it("is agent for a key whose chain address differs from the owner's, else owner [S2.6-access-level S2.6-agent-key S4.3-account]", async () => {
    const { server, owner } = service();
    expect(await levelOf(owner.apiKey)).toBe("owner");
    expect(await levelOf(agent.key)).toBe("agent");
    const chain = newChainKey(server.baseUrl);
    const own = { chainAddress: chain.address, addressProof: await chain.proving(owner.id) };
    const { key } = await createKey(server.baseUrl, owner.apiKey, { name: "own address", ...own });
    expect(await levelOf(key)).toBe("agent");
  });
});

describe("an agent", () => {
  it("uploads, downloads and lists files [S5.9-files]", async () => {
    const file = objectIn(fieldsAt(await asAgent("POST", "/api/files?name=agent.bin", new Uint8Array(5)), 201), "file");
    expectStatus(await asAgent("GET", `/api/files/${textIn(file, "id")}/content`), 200);
    expectStatus(await asAgent("GET", "/api/files"), 200);
  });

  it("creates, lists and manages folders [S5.9-folders]", async () => {
    const folder = objectIn(fieldsAt(await asAgent("POST", "/api/folders", { name: "agent's" }), 201), "folder");
    expectStatus(await asAgent("GET", "/api/folders"), 200);
    expectStatus(await asAgent("PATCH", `/api/folders/${textIn(folder, "id")}`, { name: "renamed" }), 200);
    expectStatus(await asAgent("DELETE", `/api/folders/${textIn(folder, "id")}`), 200);
  });

  it("lists vaults and their details [S5.9-vault-list]", async () => {
    expectStatus(await asAgent("GET", "/api/vaults"), 200);
    const vault = objectIn(
      fieldsAt(await service().ask("POST", "/api/vaults", { body: { name: "seen", type: "public" } }), 201),
      "vault",
    );
    expectStatus(await asAgent("GET", `/api/vaults/${textIn(vault, "id")}`), 200);
  });

  it("moves files to the trash and back, but deletes nothing for good [S5.9-trash D4-restore-both D4-owner-only-permanent]", async () => {
    const file = objectIn(
      fieldsAt(await asAgent("POST", "/api/files?name=trashed.bin", new Uint8Array(5)), 201),
      "file",
    );
    const path = `/api/files/${textIn(file, "id")}`;
    expectStatus(await asAgent("DELETE", path), 200);
    expectError(await asAgent("DELETE", `${path}?permanent=true`), 403, "owner_only");
    expectError(await asAgent("DELETE", "/api/trash"), 403, "owner_only");
    expectStatus(await asAgent("POST", `${path}/restore`), 200);
    expectStatus(await service().ask("DELETE", `${path}?permanent=true`), 204);
  });

  it("creates, updates and deletes no vault [S5.9-vault-changes D1-owner-only-403]", async () => {
    const body = { name: "owner's", type: "public" };
    expectError(await asAgent("POST", "/api/vaults", body), 403, "owner_only");
    const vault = objectIn(fieldsAt(await service().ask("POST", "/api/vaults", { body }), 201), "vault");
    const path = `/api/vaults/${textIn(vault, "id")}`;
    expectError(await asAgent("PATCH", path, { name: "agent's" }), 403, "owner_only");
    expectError(await asAgent("DELETE", path), 403, "owner_only");
    expectStatus(await service().ask("PATCH", path, { body: { name: "renamed" } }), 200);
    expectStatus(await service().ask("DELETE", path), 200);
  });

  it("creates, lists, rotates and revokes no API key [S5.9-keys D4-owner-only-key-list D4-keys-rotate]", async () => {
    expectError(await asAgent("POST", "/api/auth/api-keys", { name: "mine" }), 403, "owner_only");
    expectError(await asAgent("GET", "/api/auth/api-keys"), 403, "owner_only");
    expectError(await asAgent("POST", `/api/auth/api-keys/${agent.keyId}/rotate`), 403, "owner_only");
    expectError(await asAgent("DELETE", `/api/auth/api-keys/${agent.keyId}`), 403, "owner_only");
    expect(await levelOf(agent.key)).toBe("agent");
  });
});
