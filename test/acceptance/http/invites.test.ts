import { INVITE_SCANNING_REGEX, isInviteCode } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKey, signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, textIn, TIMESTAMP, UUID, type Fields } from "../kit/answers.ts";
import { newChainKey } from "../kit/chain.ts";
import { databasePath, filesHolding, runSql } from "../kit/data-directory.ts";
import { useService } from "../kit/service.ts";

const service = useService();

const create = (body: object, key = service().owner.apiKey) =>
  service().ask("POST", "/api/auth/invites", { key, body: { name: "bot", ...body } });
const made = async (body: object = {}): Promise<Fields> => fieldsAt(await create(body), 201);
const list = async (): Promise<readonly Fields[]> =>
  listIn(fieldsAt(await service().ask("GET", "/api/auth/invites?limit=1000"), 200), "invites");
const find = async (id: unknown): Promise<Fields | undefined> => (await list()).find((invite) => invite["id"] === id);
const revoke = (id: unknown) => service().ask("DELETE", `/api/auth/invites/${String(id)}`);

/** In hours. */
function lifetimeOf(fields: Fields): number {
  return (Date.parse(textIn(fields, "expiresAt")) - Date.parse(textIn(fields, "createdAt"))) / 3_600_000;
}

async function redeem(code: string) {
  const body = await newChainKey(service().server.baseUrl).redeeming(code);
  return service().ask("POST", "/api/auth/invites/redeem", { key: "", body });
}

describe("an invite", () => {
  it("is created with name, scopes, vaults and hours, and answers its code [S2.5-created-with S2.5-prefix S0-invite-prefix D0-invite-prefix D4-invite-create S5.8-owner-creates]", async () => {
    const vaultId = await service().makeVault("for agents");
    const rights = { scopes: ["files:read", "files:write"], vaultIds: [vaultId] };
    const fields = await made({ ...rights, expiresInHours: 2 });
    expect(fields).toEqual({
      id: expect.stringMatching(UUID),
      name: "bot",
      code: expect.stringMatching(/^cofi_[0-9A-Za-z]{49}$/),
      ...rights,
      expiresAt: expect.stringMatching(TIMESTAMP),
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    const code = textIn(fields, "code");
    expect(isInviteCode(code)).toBe(true);
    expect(INVITE_SCANNING_REGEX.exec(`invite: ${code}.`)?.[0]).toBe(code);
    expect(lifetimeOf(fields)).toBeCloseTo(2);
  });

  it("lives 1 hour unless it says so, 72 at most, and is never clamped [S2.5-lifetime S8-invite-default S8-invite-maximum D0-invite-over-72h]", async () => {
    expect(lifetimeOf(await made())).toBeCloseTo(1);
    expect(lifetimeOf(await made({ expiresInHours: 72 }))).toBeCloseTo(72);
    for (const expiresInHours of [72.001, 73, 10_000, 0, -1, "1", null])
      expectError(await create({ expiresInHours }), 400, "validation_failed");
  });

  it("is kept as the SHA-256 of its code, which is shown once [S2.5-hash-only D1-hashes-codes D1-idempotency-secrets]", async () => {
    const call = { body: { name: "once" }, headers: { "idempotency-key": "invite-once" } };
    const fields = fieldsAt(await service().ask("POST", "/api/auth/invites", call), 201);
    const code = textIn(fields, "code");
    const { dataDirectory, server } = service();
    const holders = await filesHolding(dataDirectory, createHash("sha256").update(code).digest("hex"));
    const database = await databasePath(dataDirectory);
    expect(holders.length).toBeGreaterThan(0);
    expect(holders.every((path) => path.startsWith(database))).toBe(true);
    expect(await filesHolding(dataDirectory, code)).toEqual([]);
    expect(server.printed()).not.toContain(code);
    expect(JSON.stringify(await list())).not.toContain(code);
    const repeat = await service().ask("POST", "/api/auth/invites", call);
    expect(expectError(repeat, 409, "already_created")).toContain(textIn(fields, "id"));
  });

  it("is listed with its state: created, used, revoked or expired [D4-invites-list S3-invite-used S3-invite-revoked S3-invite-expired]", async () => {
    const [open, used, revoked, expired] = [await made(), await made(), await made(), await made()];
    const redeemed = fieldsAt(await redeem(textIn(used, "code")), 201);
    expectStatus(await revoke(revoked["id"]), 204);
    const age = "UPDATE invites SET expires_at = ? WHERE id = ?";
    await runSql(service().dataDirectory, age, Date.now() - 1, textIn(expired, "id"));
    const status = async (one: Fields) => (await find(one["id"]))?.["status"];
    expect([await status(open), await status(used), await status(revoked), await status(expired)]).toEqual([
      "created",
      "used",
      "revoked",
      "expired",
    ]);
    expect(await find(open["id"])).toEqual({
      ...{ id: open["id"], name: "bot", status: "created", scopes: null, vaultIds: null },
      ...{ expiresAt: open["expiresAt"], createdAt: open["createdAt"] },
      ...{ usedAt: null, revokedAt: null, keyId: null, chainAddress: null, addressProof: null, signingKey: null },
    });
    expect(await find(used["id"])).toMatchObject({
      usedAt: expect.stringMatching(TIMESTAMP),
      keyId: redeemed["keyId"],
      chainAddress: redeemed["chainAddress"],
    });
  });

  it("is revoked with 204, a second time too, which changes nothing [D4-invite-revoke S3-invite-revoked D1-second-delete-kept-more]", async () => {
    const invite = await made();
    expectStatus(await revoke(invite["id"]), 204);
    const revokedAt = (await find(invite["id"]))?.["revokedAt"];
    expect(revokedAt).toEqual(expect.stringMatching(TIMESTAMP));
    expectStatus(await revoke(invite["id"]), 204);
    expect((await find(invite["id"]))?.["revokedAt"]).toBe(revokedAt);
    expectError(await revoke(service().owner.id), 404, "not_found");
    const stranger = await signUp(service().server.baseUrl);
    const path = `/api/auth/invites/${textIn(await made(), "id")}`;
    expectError(await service().ask("DELETE", path, { key: stranger.apiKey }), 404, "not_found");
  });
});

describe("what an invite may give", () => {
  it("is no scope that only owners have [D4-invite-owner-scope]", async () => {
    for (const scope of ["vaults:write", "api-keys:read", "invites:write", "audit:read", "billing:write"])
      expectError(await create({ scopes: ["files:read", scope] }), 400, "scope_owner_only");
    expectStatus(await create({ scopes: ["files:read", "folders:write", "vaults:read"] }), 201);
  });

  it("is no more than the key that makes it has [D4-invite-no-wider]", async () => {
    const [mine, other] = [await service().makeVault("inside"), await service().makeVault("outside")];
    const scopes = ["invites:write", "files:read"];
    const { server, owner } = service();
    const narrow = await createKey(server.baseUrl, owner.apiKey, { name: "narrow", scopes, vaultIds: [mine] });
    expectStatus(await create({ scopes: ["files:read"], vaultIds: [mine] }, narrow.key), 201);
    expectError(await create({ scopes: ["files:write"], vaultIds: [mine] }, narrow.key), 400, "scope_too_wide");
    expectError(await create({ scopes: ["files:read"], vaultIds: [other] }, narrow.key), 400, "scope_too_wide");
  });

  it("is for the owner to say: an agent makes, lists and revokes none [D4-owner-only-invites]", async () => {
    const agent = await service().inviteAgent();
    const key = agent.key;
    expectError(await create({}, key), 403, "owner_only");
    expectError(await service().ask("GET", "/api/auth/invites", { key }), 403, "owner_only");
    const path = `/api/auth/invites/${textIn(await made(), "id")}`;
    expectError(await service().ask("DELETE", path, { key }), 403, "owner_only");
  });
});

describe("the number of live invites", () => {
  it("is at most 100; used, revoked and expired ones do not count [D2-live-invites]", async () => {
    const { apiKey: key } = await signUp(service().server.baseUrl);
    const ids: string[] = [];
    for (let count = 0; count < 100; count += 1) ids.push(textIn(fieldsAt(await create({}, key), 201), "id"));
    expectError(await create({}, key), 403, "limit_reached");
    expectStatus(await service().ask("DELETE", `/api/auth/invites/${String(ids[0])}`, { key }), 204);
    expectStatus(await create({}, key), 201);
    const age = "UPDATE invites SET expires_at = ? WHERE id = ?";
    await runSql(service().dataDirectory, age, Date.now() - 1, String(ids[1]));
    expectStatus(await create({}, key), 201);
    expectError(await create({}, key), 403, "limit_reached");
  });
});
