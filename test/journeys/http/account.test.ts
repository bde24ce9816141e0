import { describe, expect, it } from "vitest";
import { signUp } from "../kit/account.ts";
import { expectError, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();

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
      usage: { bytes: expect.any(Number), files: expect.any(Number), versionBytes: 0 },
      limits: expect.any(Object),
      createdAt: expect.stringMatching(TIMESTAMP),
    });
  });

  it("changes its name [D3-account-update]", async () => {
    const answer = await service().ask("PATCH", "/api/account", { body: { name: "Grace" } });
    expect(objectIn(fieldsAt(answer, 200), "account")["name"]).toBe("Grace");
    const again = await service().ask("PATCH", "/api/account", { body: { name: null } });
    expect(objectIn(fieldsAt(again, 200), "account")["name"]).toBeNull();
  });

  it("begins with a public vault Files, stores there with an unverified address and no chain key, reads and counts [D5-default-vault D5-vault-names-clear S1-vault-type S1-stores-files S5.5-unverified-may-store S5.7-public-upload S5.7-public-download S5.7-list S4.3-files D0-public-vault-no-chain-key S1-client-scripts]", async () => {
    const { apiKey: key } = await signUp(service().server.baseUrl);
    const vaults = listIn(fieldsAt(await service().ask("GET", "/api/vaults", { key }), 200), "vaults");
    expect(vaults).toEqual([expect.objectContaining({ name: "Files", type: "public", chainObjectId: null })]);
    const body = new TextEncoder().encode("plain bytes");
    const stored = await service().ask("POST", "/api/files?name=plain.txt", { key, body });
    const file = objectIn(fieldsAt(stored, 201), "file");
    expect(file["vaultId"]).toBe(vaults[0]?.["id"]);
    const content = await service().ask("GET", `/api/files/${textIn(file, "id")}/content`, { key });
    expect(new TextDecoder().decode(content.bytes)).toBe("plain bytes");
    const files = listIn(fieldsAt(await service().ask("GET", "/api/files", { key }), 200), "files");
    expect(files.map(({ id }) => id)).toEqual([file["id"]]);
    expect(await service().account(key)).toMatchObject({
      emailVerified: false,
      usage: { bytes: body.length, files: 1, versionBytes: 0 },
    });
  });

  it("has public vaults alone where shared vaults are not configured [D5-shared-unavailable S1-vault-type]", async () => {
    const refused = await service().ask("POST", "/api/vaults", { body: { name: "Team", type: "shared" } });
    const message = expectError(refused, 400, "shared_vaults_unavailable");
    expect(message).toBe("shared vaults are not available on this server");
  });
});
