import { AGENT_SCOPES, INVITE_SCANNING_REGEX, isInviteCode, SCOPES } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import type { Deps } from "../../deps.ts";
import { openTestApp } from "../../app.test-kit.ts";
import { claimOf, errorCodeOf, makeInvite, newSigner, redeem } from "./invites.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const HOUR = 3_600_000;
const LIMITED = { SERVICE_MAX_INVITES: "3" };

const service = ofEachTest(() => openTestApp({ environment: LIMITED }));
const owner = ofEachTest(() => service.signUp());

/** Moves on a millisecond whenever somebody looks. */
function ticking(clock: Deps["clock"]): Deps["clock"] {
  let looks = 0;
  return { now: () => clock.now() + (looks += 1), elapsed: () => clock.elapsed() };
}

const create = (key: string, json: object) => service.ask("POST", "/api/auth/invites", { key, json });

async function list(key = owner.key): Promise<Record<string, unknown>[]> {
  const { body } = await service.ask("GET", "/api/auth/invites", { key });
  return body["invites"] as Record<string, unknown>[];
}

const newKey = async (json: object) => (await service.newKey(owner.key, json)).key;
const newVault = (name: string) => service.newVault(owner.key, name);

describe("creating an invite", () => {
  it("[D4-invite-create S2.5-created-with S2.5-hash-only S2.5-prefix S0-invite-prefix D0-invite-prefix S5.8-owner-creates S8-invite-default] shows the code once and keeps its hash alone", async () => {
    const made = await create(owner.key, { name: "Agent", scopes: ["files:read", "files:read"] });
    const { code, id, ...rest } = made.body as Record<string, string>;
    expect(made.status).toBe(201);
    expect(code).toMatch(/^cofi_[0-9A-Za-z]{49}$/);
    expect(isInviteCode(String(code))).toBe(true);
    expect(made.headers["location"]).toBe(`/api/auth/invites/${String(id)}`);
    expect(rest).toEqual({
      name: "Agent",
      scopes: ["files:read"],
      vaultIds: null,
      budgets: null,
      accessUntil: null,
      expiresAt: "2026-11-20T13:00:00.000Z",
      createdAt: "2026-11-20T12:00:00.000Z",
    });
    expect(JSON.stringify(await list())).not.toMatch(INVITE_SCANNING_REGEX);
    expect(
      JSON.stringify(await service.deps.database.all(service.deps.database.build.selectFrom("invites").selectAll())),
    ).not.toContain(code);
    expect(service.logged()).not.toContain(String(code).slice(5));
  });

  it("[S2.5-lifetime] lasts an hour to the millisecond from when it says it was made, however long the making takes", async () => {
    await using slow = await openTestApp({ replace: ({ clock }) => ({ clock: ticking(clock) }) });
    const { body } = await slow.ask("POST", "/api/auth/invites", {
      key: (await slow.signUp()).key,
      json: { name: "Agent" },
    });
    expect(Date.parse(String(body["expiresAt"])) - Date.parse(String(body["createdAt"]))).toBe(3_600_000);
  });

  it("[S2.5-lifetime D0-invite-over-72h S8-invite-maximum] lasts up to 72 hours, in fractions too, and not longer", async () => {
    const expiry = async (expiresInHours: number) =>
      (await create(owner.key, { name: "A", expiresInHours })).body["expiresAt"];
    expect(await expiry(72)).toBe("2026-11-23T12:00:00.000Z");
    expect(await expiry(0.1)).toBe("2026-11-20T12:06:00.000Z");
    for (const expiresInHours of [72.0001, 73, 0, -1, null]) {
      const refused = await create(owner.key, { name: "A", expiresInHours });
      expect([refused.status, errorCodeOf(refused)]).toEqual([400, "validation_failed"]);
    }
  });

  it("[D4-invite-owner-scope] refuses a scope that only owners have, by name", async () => {
    for (const scope of SCOPES) {
      const made = await create(owner.key, { name: "A", scopes: ["files:read", scope] });
      const fits = AGENT_SCOPES.includes(scope);
      expect([scope, errorCodeOf(made)]).toEqual([
        scope,
        fits && made.status === 201 ? undefined : fits ? "limit_reached" : "scope_owner_only",
      ]);
    }
  });

  it("[D4-invite-no-wider] is no wider than its maker: scopes, vaults, time", async () => {
    const vaultId = await newVault("Mine");
    const maker = await newKey({ scopes: ["invites:write", "files:read"], vaultIds: [vaultId], expiresInDays: 1 });
    const inherited = await create(maker, { name: "A" });
    expect(inherited.body).toMatchObject({ scopes: ["files:read"], vaultIds: [vaultId] });
    const other = await newVault("Other");
    for (const wider of [
      { scopes: ["files:write"] },
      { vaultIds: [other] },
      { vaultIds: [vaultId, other] },
      { expiresInHours: 24.001 },
    ]) {
      const refused = await create(maker, { name: "A", ...wider });
      expect([refused.status, errorCodeOf(refused)]).toEqual([400, "scope_too_wide"]);
    }
    expect((await create(maker, { name: "A", expiresInHours: 24 })).status).toBe(201);
    const nothing = await create(await newKey({ scopes: ["invites:write"] }), { name: "A" });
    expect(errorCodeOf(nothing)).toBe("scope_too_wide");
  });

  it("ends with its maker, and so does its key", async () => {
    const maker = await newKey({ expiresInDays: 1 });
    service.clock.advance(24 * HOUR - 1000);
    const invite = await makeInvite(service, maker);
    expect(invite.expiresAt).toBe("2026-11-21T12:00:00.000Z");
    const signer = newSigner();
    const { body, status } = await redeem(service, claimOf(signer, invite.code, service.clock.now()));
    expect(status).toBe(201);
    service.clock.advance(999);
    const ask = () => service.ask("GET", "/api/account", { key: String(body["key"]) });
    expect((await ask()).status).toBe(200);
    service.clock.advance(1);
    expect((await ask()).status).toBe(401);
  });

  it("[D4-access-until] promises access until a whole quarter of an hour, and the key ends then", async () => {
    const until = "2026-11-20T12:45:00.000Z";
    const made = await create(owner.key, { name: "A", accessUntil: until });
    expect(made.body).toMatchObject({ accessUntil: until, expiresAt: until });
    expect(await list()).toMatchObject([{ accessUntil: until }]);
    const claim = claimOf(newSigner(), (made.body as { code: string }).code, service.clock.now());
    const { body } = await redeem(service, claim);
    expect(body).toMatchObject({ expiresAt: until });
    const ask = async () => (await service.ask("GET", "/api/account", { key: String(body["key"]) })).status;
    service.clock.advance(0.75 * HOUR - 1);
    expect(await ask()).toBe(200);
    service.clock.advance(1);
    expect(await ask()).toBe(401);
  });

  it("promises no access until another time, one that is over, or one before its own end", async () => {
    const maker = await newKey({ expiresInDays: 1 });
    const refusals = [
      ["2026-11-20T12:50:00.000Z", {}, "validation_failed"],
      ["2026-11-20T12:00:00.000Z", {}, "validation_failed"],
      ["2026-11-20T14:00:00.000Z", { expiresInHours: 2.5 }, "validation_failed"],
      ["2026-11-21T12:15:00.000Z", {}, "scope_too_wide"],
    ] as const;
    for (const [accessUntil, more, code] of refusals) {
      const refused = await create(maker, { name: "A", accessUntil, ...more });
      expect([accessUntil, errorCodeOf(refused)]).toEqual([accessUntil, code]);
      if (accessUntil.includes("12:50"))
        expect(refused.text).toContain("such as 2026-11-20T12:45:00.000Z or 2026-11-20T13:00:00.000Z");
    }
  });

  it("names vaults of the account only", async () => {
    const { key } = await service.signUp();
    const refused = await create(owner.key, { name: "A", vaultIds: [await service.newVault(key, "Theirs")] });
    expect([refused.status, errorCodeOf(refused)]).toEqual([404, "not_found"]);
  });

  it("[D2-live-invites] stops at the limit of live ones; an ended one makes room", async () => {
    const [first, second, third] = [
      await makeInvite(service, owner.key),
      await makeInvite(service, owner.key),
      await makeInvite(service, owner.key, { expiresInHours: 0.5 }),
    ];
    const full = async () => errorCodeOf(await create(owner.key, { name: "A" }));
    expect(await full()).toBe("limit_reached");
    await service.ask("DELETE", `/api/auth/invites/${first.id}`, { key: owner.key });
    expect(await full()).toBeUndefined();
    await redeem(service, claimOf(newSigner(), second.code, service.clock.now()));
    expect(await full()).toBeUndefined();
    service.clock.advance(HOUR / 2 - 1);
    expect(await full()).toBe("limit_reached");
    service.clock.advance(1);
    expect(await full()).toBeUndefined();
    expect(third.id).toBeTypeOf("string");
  });

  it("is repeated by an Idempotency-Key without the code", async () => {
    const call = { key: owner.key, json: { name: "A" }, headers: { "idempotency-key": "once" } };
    const first = await service.ask("POST", "/api/auth/invites", call);
    const again = await service.ask("POST", "/api/auth/invites", call);
    expect([again.status, errorCodeOf(again)]).toEqual([409, "already_created"]);
    expect(again.text).toContain(String(first.body["id"]));
    expect(await list()).toHaveLength(1);
  });
});

describe("the list of invites", () => {
  it("[D4-invites-list] [S3-invite-expired] says created, used, revoked and expired by the clock, newest first", async () => {
    const invites = [];
    for (const expiresInHours of [2, 2, 1]) {
      invites.push(await makeInvite(service, owner.key, { expiresInHours }));
      service.clock.advance(1);
    }
    const [used, revoked, expired] = invites;
    const signer = newSigner();
    const addressProof = "ab".repeat(32);
    const claim = { ...claimOf(signer, used?.code ?? "", service.clock.now()), addressProof };
    const key = (await redeem(service, claim)).body;
    await service.ask("DELETE", `/api/auth/invites/${revoked?.id ?? ""}`, { key: owner.key });
    const states = async () => (await list()).map(({ id, status }) => [id, status]);
    service.clock.advance(HOUR - 2);
    expect(await states()).toEqual([
      [expired?.id, "created"],
      [revoked?.id, "revoked"],
      [used?.id, "used"],
    ]);
    service.clock.advance(1);
    expect((await states())[0]).toEqual([expired?.id, "expired"]);
    expect((await list())[2]).toMatchObject({ keyId: key["keyId"], chainAddress: signer.chainAddress, addressProof });
  });

  it("goes page by page", async () => {
    const made = [];
    for (let n = 0; n < 3; n += 1) made.push((await makeInvite(service, owner.key)).id);
    const page = async (cursor: string) =>
      (await service.ask("GET", `/api/auth/invites?limit=2${cursor}`, { key: owner.key })).body;
    const first = await page("");
    const second = await page(`&cursor=${String(first["nextCursor"])}`);
    const ids = [first, second].flatMap(({ invites }) => (invites as { id: string }[]).map(({ id }) => id));
    expect(ids.sort()).toEqual(made.sort());
    expect(second["nextCursor"]).toBeNull();
  });

  it("shows a key limited to vaults no invite that reaches further, nor lets it end one", async () => {
    const vaultId = await newVault("Mine");
    const limited = await newKey({ vaultIds: [vaultId] });
    const wide = await makeInvite(service, owner.key);
    const narrow = await makeInvite(service, owner.key, { vaultIds: [vaultId] });
    expect((await list(limited)).map(({ id }) => id)).toEqual([narrow.id]);
    const end = async (id: string) => (await service.ask("DELETE", `/api/auth/invites/${id}`, { key: limited })).status;
    expect([await end(wide.id), await end(narrow.id)]).toEqual([404, 204]);
    expect((await list()).map(({ status }) => status).sort()).toEqual(["created", "revoked"]);
  });
});

describe("revoking an invite", () => {
  const revoke = async (id: string) =>
    (await service.ask("DELETE", `/api/auth/invites/${id}`, { key: owner.key })).status;

  it("[D4-invite-revoke] [S3-invite-revoked] ends it; a second time changes nothing", async () => {
    const invite = await makeInvite(service, owner.key);
    expect(await revoke(invite.id)).toBe(204);
    const before = await list();
    service.clock.advance(1000);
    expect(await revoke(invite.id)).toBe(204);
    expect(await list()).toEqual(before);
    const refused = await redeem(service, claimOf(newSigner(), invite.code, service.clock.now()));
    expect([refused.status, errorCodeOf(refused)]).toEqual([410, "invite_ended"]);
  });

  it("leaves a used invite, and the key that it became, as they are", async () => {
    const invite = await makeInvite(service, owner.key);
    const { body } = await redeem(service, claimOf(newSigner(), invite.code, service.clock.now()));
    expect(await revoke(invite.id)).toBe(204);
    expect((await list())[0]).toMatchObject({ status: "used", revokedAt: null });
    expect((await service.ask("GET", "/api/account", { key: String(body["key"]) })).status).toBe(200);
  });

  it("answers 404 for one that never was", async () => {
    expect(await revoke("01234567-89ab-4def-8123-456789abcdef")).toBe(404);
  });
});
