import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const SHARED = { name: "Team", type: "shared" };

describe("the account", () => {
  it("has an identity, a plan, its usage and limits, and no chain address yet [D4-account-shape D4-chain-null S5.1-account-identity S4.3-account]", async () => {
    const { account } = fieldsAt(await service().ask("GET", "/api/account"), 200);
    expect(account).toEqual({
      id: expect.stringMatching(UUID),
      email: service().owner.email,
      emailVerified: false,
      name: null,
      accessLevel: "owner",
      chainAddress: null,
      chainAddressSource: null,
      plan: "pro",
      usage: { bytes: expect.any(Number), files: expect.any(Number) },
      limits: expect.any(Object),
      createdAt: expect.stringMatching(TIMESTAMP),
    });
  });

  it("stores, reads and makes vaults with an unverified address, and counts what it stores [S1-stores-files S5.5-unverified-may-store]", async () => {
    const { apiKey } = await signUp(service().server.baseUrl);
    const stored = await service().ask("POST", "/api/files?name=a", { key: apiKey, body: new Uint8Array(1234) });
    const file = objectIn(fieldsAt(stored, 201), "file");
    expectStatus(await service().ask("GET", `/api/files/${textIn(file, "id")}/content`, { key: apiKey }), 200);
    expectStatus(await service().ask("POST", "/api/vaults", { key: apiKey, body: { name: "v", type: "public" } }), 201);
    const account = objectIn(fieldsAt(await service().ask("GET", "/api/account", { key: apiKey }), 200), "account");
    expect(account["emailVerified"]).toBe(false);
    expect(account["usage"]).toEqual({ bytes: 1234, files: 1 });
  });

  it("changes its name [D3-account-update]", async () => {
    const answer = await service().ask("PATCH", "/api/account", { body: { name: "Grace" } });
    expect(objectIn(fieldsAt(answer, 200), "account")["name"]).toBe("Grace");
    const again = await service().ask("PATCH", "/api/account", { body: { name: null } });
    expect(objectIn(fieldsAt(again, 200), "account")["name"]).toBeNull();
  });

  it("begins with a public vault Files that takes what names no vault [D5-default-vault D5-vault-names-clear S1-vault-type]", async () => {
    const { apiKey } = await signUp(service().server.baseUrl);
    const vaults = listIn(fieldsAt(await service().ask("GET", "/api/vaults", { key: apiKey }), 200), "vaults");
    expect(vaults).toEqual([expect.objectContaining({ name: "Files", type: "public", chainObjectId: null })]);
    const uploaded = await service().ask("POST", "/api/files?name=a", { key: apiKey, body: new Uint8Array(1) });
    expect(objectIn(fieldsAt(uploaded, 201), "file")["vaultId"]).toBe(vaults[0]?.["id"]);
  });
});

describe("public vaults and their files", () => {
  it("need an API key and no chain key: create, upload, download, list [S5.7-public-upload S5.7-public-download S5.7-list D0-public-vault-no-chain-key S1-client-scripts]", async () => {
    const vaultId = await service().makeVault("Public");
    const body = new TextEncoder().encode("plain bytes");
    const uploaded = await service().ask("POST", `/api/files?vaultId=${vaultId}&name=plain.txt`, { body });
    const fileId = textIn(objectIn(fieldsAt(uploaded, 201), "file"), "id");
    const content = await service().ask("GET", `/api/files/${fileId}/content`);
    expect(new TextDecoder().decode(content.bytes)).toBe("plain bytes");
    const files = listIn(fieldsAt(await service().ask("GET", `/api/files?vaultId=${vaultId}`), 200), "files");
    expect(files.map((file) => file["id"])).toEqual([fileId]);
  });

  it("are all there is before shared vaults exist [D5-shared-unavailable S1-vault-type]", async () => {
    const message = expectError(
      await service().ask("POST", "/api/vaults", { body: SHARED }),
      400,
      "shared_vaults_unavailable",
    );
    expect(message).toBe("shared vaults are not available on this server");
  });
});

describe("another account", () => {
  it("sees nothing: 404 for every object [D1-foreign-object-404 D5-isolation-404]", async () => {
    const stranger = await signUp(service().server.baseUrl);
    const vaultId = await service().makeVault("Private");
    const file = await service().upload("a", new Uint8Array(1), `&vaultId=${vaultId}`);
    const folder = await service().makeFolder("a", { vaultId });
    const fileId = textIn(file, "id");
    const paths = [
      `/api/vaults/${vaultId}`,
      `/api/files/${fileId}`,
      `/api/files/${fileId}/content`,
      `/api/folders/${textIn(folder, "id")}`,
      `/api/files?vaultId=${vaultId}`,
    ];
    for (const path of paths) expectError(await service().ask("GET", path, { key: stranger.apiKey }), 404, "not_found");
    for (const path of paths.slice(0, 2))
      expectError(await service().ask("DELETE", path, { key: stranger.apiKey }), 404, "not_found");
    expectStatus(await service().ask("GET", `/api/files/${fileId}`), 200);
  });
});
