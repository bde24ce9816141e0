import { isKeyText, KEY_SCANNING_REGEX, SCOPES } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { createKey, revokeKey, type NewKey } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const make = (body: object): Promise<NewKey> => createKey(service().server.baseUrl, service().owner.apiKey, body);

async function recordOf(keyId: string): Promise<Readonly<Record<string, unknown>>> {
  return objectIn(fieldsAt(await service().ask("GET", `/api/auth/api-keys/${keyId}`), 200), "apiKey");
}

describe("creating a key", () => {
  it("answers the flat key with its label, scopes, vaults and expiry [S4.2-create-key S2.4-name S2.4-scopes S2.4-vault-restrictions S2.4-expiry D4-keys-create D1-create-201]", async () => {
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

  it("makes a text with prefix, checksum and a published scanning pattern [S2.4-prefix D4-key-text D4-key-scanning]", async () => {
    const { key } = await make({ name: "text" });
    expect(key).toMatch(/^cof_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
    expect(isKeyText(key)).toBe(true);
    expect(isKeyText(`${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`)).toBe(false);
    expect(KEY_SCANNING_REGEX.exec(`token: "${key}"`)?.[0]).toBe(key);
  });

  it("never makes a key wider than the caller's, in vaults, scopes or expiry [D4-no-wider-key]", async () => {
    const [mine, other] = [await service().makeVault("mine"), await service().makeVault("other")];
    const scopes = ["api-keys:write", "files:read"];
    const narrow = await make({ name: "narrow", scopes, vaultIds: [mine], expiresInDays: 10 });
    const ask = (body: object) =>
      service().ask("POST", "/api/auth/api-keys", { key: narrow.key, body: { name: "child", ...body } });
    const allowed = { scopes: ["files:read"], vaultIds: [mine], expiresInDays: 5 };
    expectStatus(await ask(allowed), 201);
    expectError(await ask({ ...allowed, scopes: ["files:write"] }), 400, "scope_too_wide");
    expect((await ask({ ...allowed, vaultIds: [other] })).status).toBeGreaterThanOrEqual(400);
    expect((await ask({ ...allowed, expiresInDays: 3650 })).status).toBeGreaterThanOrEqual(400);
    const absent = fieldsAt(await ask({}), 201);
    expect(absent).toMatchObject({ scopes, vaultIds: [mine] });
    expect(Date.parse(textIn(absent, "expiresAt"))).toBeLessThanOrEqual(
      Date.parse(String((await recordOf(narrow.id))["expiresAt"])),
    );
  });
});

describe("a key's record", () => {
  it("is listed and read with prefix, last4, level and times, never the key [D4-keys-list D4-keys-get]", async () => {
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

  it("rotates into a new id with the same rights; the old key ends at once or after the overlap [D4-keys-rotate]", async () => {
    const old = await make({ name: "rotated", scopes: ["files:read"] });
    const rotate = (body: object) => service().ask("POST", `/api/auth/api-keys/${old.id}/rotate`, { body });
    const overlapping = fieldsAt(await rotate({ overlapHours: 1 }), 201);
    expect(overlapping["id"]).not.toBe(old.id);
    expect(overlapping["scopes"]).toEqual(["files:read"]);
    expectStatus(await service().ask("GET", "/api/account", { key: old.key }), 200);
    expectError(await rotate({ overlapHours: 169 }), 400, "validation_failed");
    const second = textIn(overlapping, "id");
    const fresh = fieldsAt(await service().ask("POST", `/api/auth/api-keys/${second}/rotate`), 201);
    expectError(
      await service().ask("GET", "/api/account", { key: textIn(overlapping, "key") }),
      401,
      "invalid_credential",
    );
    expectStatus(await service().ask("GET", "/api/account", { key: textIn(fresh, "key") }), 200);
  });
});

describe("rights", () => {
  it("of a key without scopes are all that its level allows; account and vault list need no scope [D4-scopes-absent D4-scope-free]", async () => {
    const free = await make({ name: "no scopes" });
    expectStatus(await service().ask("GET", "/api/auth/api-keys", { key: free.key }), 200);
    const narrow = await make({ name: "one scope", scopes: ["files:read"] });
    for (const path of ["/api/account", "/api/vaults"])
      expectStatus(await service().ask("GET", path, { key: narrow.key }), 200);
  });

  it("are matrix ∩ scopes ∩ vaults: a missing scope is 403, a foreign vault 404 [D4-effective-rights D1-missing-scope-403 D1-vault-limit-404 S2.4-scopes S2.4-vault-restrictions]", async () => {
    const [mine, other] = [await service().makeVault("in the list"), await service().makeVault("not in the list")];
    const { key } = await make({ name: "reader", scopes: ["files:read", "folders:read"], vaultIds: [mine] });
    expectStatus(await service().ask("GET", `/api/files?vaultId=${mine}`, { key }), 200);
    const write = { key, body: new Uint8Array(3) };
    expectError(await service().ask("POST", `/api/files?vaultId=${mine}&name=a`, write), 403, "missing_scope");
    expectError(await service().ask("GET", `/api/vaults/${other}`, { key }), 404, "not_found");
    expectError(await service().ask("GET", `/api/files?vaultId=${other}`, { key }), 404, "not_found");
  });

  it("of a key limited to vaults: it creates none and lists no others [D4-vault-limited-key]", async () => {
    const mine = await service().makeVault("only this");
    const { key } = await make({ name: "limited", vaultIds: [mine] });
    const listed = listIn(fieldsAt(await service().ask("GET", "/api/vaults?limit=1000", { key }), 200), "vaults");
    expect(listed.map((vault) => vault["id"])).toEqual([mine]);
    const body = { name: "another", type: "public" };
    expectError(await service().ask("POST", "/api/vaults", { key, body }), 403, "vault_limited_key");
  });

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
