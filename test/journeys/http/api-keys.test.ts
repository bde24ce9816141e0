import { SCOPES } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKey, revokeKey, type NewKey } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { runSql } from "../kit/data-directory.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const make = (body: object): Promise<NewKey> => createKey(service().server.baseUrl, service().owner.apiKey, body);

async function recordOf(keyId: string): Promise<Readonly<Record<string, unknown>>> {
  return objectIn(fieldsAt(await service().ask("GET", `/api/auth/api-keys/${keyId}`), 200), "apiKey");
}

describe("creating a key", () => {
  it("answers the flat key with its label, scopes, vaults and expiry [S4.2-create-key S2.4-name S2.4-scopes S2.4-vault-restrictions S2.4-expiry D4-keys-create D1-create-201 S1-api-keys]", async () => {
    const vaultId = await service().makeVault("for a key");
    const body = { name: "backup", scopes: ["files:read", "files:write"], vaultIds: [vaultId], expiresInDays: 30 };
    const fields = fieldsAt(await service().ask("POST", "/api/auth/api-keys", { body }), 201);
    expect(fields).toEqual({
      id: expect.stringMatching(UUID),
      name: "backup",
      key: expect.stringMatching(/^cof_/),
      prefix: expect.any(String),
      scopes: ["files:read", "files:write"],
      vaultIds: [vaultId],
      chainAddress: null,
      budgets: null,
      expiresAt: expect.stringMatching(TIMESTAMP),
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    const lifetime = Date.parse(textIn(fields, "expiresAt")) - Date.parse(textIn(fields, "createdAt"));
    expect(Math.abs(lifetime - 30 * 86_400_000)).toBeLessThan(1000);
  });

  it("takes any time up to 3650 days and no scope beyond the eighteen [D4-keys-create D4-scopes]", async () => {
    expect(SCOPES).toHaveLength(18);
    for (const more of [
      { expiresInDays: 0 },
      { expiresInDays: 3651 },
      { expiresInDays: -0.5 },
      { expiresInDays: 3650.1 },
      { expiresInDays: "1" },
      { scopes: ["files:all"] },
    ]) {
      const answer = await service().ask("POST", "/api/auth/api-keys", { body: { name: "wrong", ...more } });
      expectError(answer, 400, "validation_failed");
    }
    await make({ name: "shortest", expiresInDays: 1e-9 });
    await make({ name: "longest", expiresInDays: 3650, scopes: [...SCOPES] });
  });
});

describe("a key's record", () => {
  it("is found by the hash of the key alone, of the legacy prefix too, which has no checksum [S5.3-hash-lookup S2.4-legacy-prefix S0-key-prefixes D0-key-prefixes D4-key-legacy]", async () => {
    const legacy = "coffer_oldKeyFromAnEarlierEdition0001";
    const { id } = await make({ name: "legacy" });
    const hash = createHash("sha256").update(legacy).digest("hex");
    await runSql(service().dataDirectory, "UPDATE api_keys SET hash = ? WHERE id = ?", hash, id);
    expectStatus(await service().ask("GET", "/api/account", { key: legacy }), 200);
  });

  it("is listed and read with prefix, last4, level and times, never the key [D4-keys-list D4-keys-get S2.4-shown-once]", async () => {
    const { id, key } = await make({ name: "listed" });
    const listed = listIn(fieldsAt(await service().ask("GET", "/api/auth/api-keys?limit=1000"), 200), "apiKeys");
    const record = await recordOf(id);
    expect(listed.find((item) => item["id"] === id)).toEqual(record);
    expect(record).toEqual({
      id,
      name: "listed",
      prefix: expect.any(String),
      last4: key.slice(-4),
      scopes: null,
      vaultIds: null,
      chainAddress: null,
      chainPublicKey: null,
      accessLevel: "owner",
      budgets: null,
      budgetUse: null,
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      createdAt: expect.stringMatching(TIMESTAMP),
    });
  });

  it("stays after a revocation, with revokedAt set once [S2.4-revoked-at D4-keys-revoke D1-second-delete-kept]", async () => {
    const { id } = await make({ name: "revoked" });
    const revoke = () => revokeKey(service().server.baseUrl, service().owner.apiKey, id);
    expectStatus(await revoke(), 204);
    const { revokedAt } = await recordOf(id);
    expect(revokedAt).toEqual(expect.stringMatching(TIMESTAMP));
    expectStatus(await revoke(), 204);
    expect((await recordOf(id))["revokedAt"]).toBe(revokedAt);
  });
});

describe("rights", () => {
  it("of a key limited to vaults: a key that reaches further is not there for it", async () => {
    const mine = await service().makeVault("confined");
    const { id, key } = await make({ name: "confined", vaultIds: [mine] });
    const wider = await make({ name: "wider" });
    const listed = listIn(
      fieldsAt(await service().ask("GET", "/api/auth/api-keys?limit=1000", { key }), 200),
      "apiKeys",
    );
    expect(listed.map((one) => one["id"])).toEqual([id]);
    const path = `/api/auth/api-keys/${wider.id}`;
    expectError(await service().ask("GET", path, { key }), 404, "not_found");
    expectError(await service().ask("DELETE", path, { key }), 404, "not_found");
    expectError(await service().ask("POST", `${path}/rotate`, { key }), 404, "not_found");
    expectStatus(await service().ask("GET", "/api/account", { key: wider.key }), 200);
  });
});
