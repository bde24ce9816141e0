import { randomBytes } from "node:crypto";
import { MAX_CLOCK_SKEW, renderInviteCode, renderLinkText } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { openTestApp } from "../../app.test-kit.ts";
import { between } from "../../between.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { redeemInvite } from "./redeeming.ts";
import { type Claim, claimOf, errorCodeOf, makeInvite, newSigner, redeem, TEST_PLACE } from "./invites.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const HOUR = 3_600_000;

const service = ofEachTest(openTestApp);
const owner = ofEachTest(() => service.signUp());

const now = () => service.clock.now();

async function refusalOf(claim: Claim): Promise<unknown[]> {
  const answer = await redeem(service, claim);
  return [answer.status, errorCodeOf(answer)];
}

async function linkOwner(address: string, id = owner.id): Promise<void> {
  const { database } = service.deps;
  await database.run(database.build.updateTable("accounts").set({ chain_address: address }).where("id", "=", id));
}

const newVault = (name: string) => service.newVault(owner.key, name);

describe("an invite that ends between the look and the use", () => {
  it("by its time makes no key: the use decides", async () => {
    const { code, expiresAt } = await makeInvite(service, owner.key);
    const claim = claimOf(newSigner(), code, Date.parse(expiresAt) - 1);
    service.clock.advance(Date.parse(expiresAt) - 1 - now());
    const database = between(service.deps.database, () => service.clock.advance(1));
    const context = {
      serviceOrigin: TEST_PLACE.origin,
      origin: { requestId: "r", address: "127.0.0.1", userAgent: null },
    };
    await expect(redeemInvite({ ...service.deps, database }, claim, context)).rejects.toMatchObject({
      code: "invite_ended",
    });
    const { body } = await service.ask("GET", "/api/auth/api-keys", { key: owner.key });
    expect(body["apiKeys"]).toHaveLength(1);
  });
});

describe("redeeming an invite", () => {
  it("[D4-invite-redeem D1-open-redeem S2.5-redeem S5.8-agent-key S5.1-invites-tie S1-invites D4-effective-rights] makes an agent's key that is bound to the address that signed", async () => {
    const vaultId = await newVault("Mine");
    const invite = await makeInvite(service, owner.key, {
      scopes: ["files:read", "vaults:read"],
      vaultIds: [vaultId],
    });
    const signer = newSigner();
    const { status, body, headers } = await redeem(service, claimOf(signer, invite.code, now()));
    const { key, keyId, ...rest } = body;
    expect(status).toBe(201);
    expect(headers["location"]).toBe(`/api/auth/api-keys/${String(keyId)}`);
    expect(rest).toEqual({
      accountId: owner.id,
      scopes: ["files:read", "vaults:read"],
      vaultIds: [vaultId],
      chainAddress: signer.chainAddress,
      accessLevel: "agent",
      budgets: null,
      expiresAt: null,
    });
    const seen = await service.ask("GET", "/api/account", { key: String(key) });
    expect(seen.body).toMatchObject({
      account: { id: owner.id, accessLevel: "agent" },
      credential: { vaultIds: [vaultId] },
    });
    const listed = await service.ask("GET", `/api/auth/api-keys/${String(keyId)}`, { key: owner.key });
    expect(listed.body["apiKey"]).toMatchObject({
      name: "Agent",
      accessLevel: "agent",
      expiresAt: null,
      chainPublicKey: Buffer.from(signer.publicKey).toString("base64"),
    });
    expect(service.logged()).not.toContain(String(key).slice(4));
  });

  it("leaves absent scopes absent: everything an agent may do, and nothing of the owner's", async () => {
    const { code } = await makeInvite(service, owner.key);
    const { body } = await redeem(service, claimOf(newSigner(), code, now()));
    expect(body).toMatchObject({ scopes: null, vaultIds: null });
    const key = String(body["key"]);
    expect((await service.ask("GET", "/api/files", { key })).status).toBe(200);
    expect(errorCodeOf(await service.ask("GET", "/api/auth/invites", { key }))).toBe("owner_only");
  });

  it("records who came of which invite", async () => {
    const { code, id } = await makeInvite(service, owner.key);
    const { chainAddress, ...signer } = newSigner();
    const redeemed = await redeem(service, claimOf({ chainAddress, ...signer }, code, now()));
    const { database } = service.deps;
    const rows = await database.all(
      database.build.selectFrom("changes").selectAll().orderBy("sequence", "desc").limit(2),
    );
    expect(rows.map(({ action }) => action)).toEqual(["invite.redeemed", "api_key.created"]);
    for (const row of rows) expect(JSON.parse(row.actor_json)).toMatchObject({ type: "invite", id, chainAddress });
    await service.ask("POST", "/api/folders", { key: String(redeemed.body["key"]), json: { name: "F" } });
    const log = await service.ask("GET", "/api/audit-log?limit=1", { key: owner.key });
    const actor = { type: "api-key", id: redeemed.body["keyId"], accessLevel: "agent", chainAddress };
    expect(log.body["events"]).toMatchObject([{ action: "folder.created", actor }]);
  });

  it("[S2.5-single-use] [S3-invite-used] [D1-gone-410-invite] works once", async () => {
    const { code } = await makeInvite(service, owner.key);
    const signer = newSigner();
    const claim = claimOf(signer, code, now());
    expect((await redeem(service, claim)).status).toBe(201);
    expect(await refusalOf(claim)).toEqual([410, "invite_ended"]);
    expect(await refusalOf(claimOf(newSigner(), code, now()))).toEqual([410, "invite_ended"]);
  });

  it("[D4-redeem-refusals] answers 404 for a code that nobody made, whatever its form, and repeats none", async () => {
    for (const code of [renderInviteCode(randomBytes(32)), "cofi_short", "x", `cof_${"a".repeat(49)}`]) {
      const answer = await redeem(service, claimOf(newSigner(), code, now()));
      expect([answer.status, errorCodeOf(answer)]).toEqual([404, "not_found"]);
      expect(answer.text).not.toContain(code);
    }
  });

  it("refuses a code that brings its secret along, without repeating it, and leaves the invite alone", async () => {
    const { code } = await makeInvite(service, owner.key);
    const secret = randomBytes(32).toString("base64url");
    const answer = await redeem(service, claimOf(newSigner(), `${code}.${secret}`, now()));
    expect([answer.status, errorCodeOf(answer)]).toEqual([400, "validation_failed"]);
    expect(answer.text).toContain("secret");
    for (const text of [answer.text, service.logged()]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(code.slice(5));
    }
    expect((await redeem(service, claimOf(newSigner(), code, now()))).status).toBe(201);
  });
});

describe("[S2.5-lifetime] an invite lives", () => {
  it.each([
    [1, undefined],
    [72, 72],
    [0.5, 0.5],
  ])("%d h to the millisecond", async (hours, expiresInHours) => {
    const wanted = expiresInHours === undefined ? {} : { expiresInHours };
    const [early, exact] = [await makeInvite(service, owner.key, wanted), await makeInvite(service, owner.key, wanted)];
    service.clock.advance(hours * HOUR - 1);
    expect((await redeem(service, claimOf(newSigner(), early.code, now()))).status).toBe(201);
    service.clock.advance(1);
    expect(await refusalOf(claimOf(newSigner(), exact.code, now()))).toEqual([410, "invite_ended"]);
    service.clock.advance(1);
    expect(await refusalOf(claimOf(newSigner(), exact.code, now()))).toEqual([410, "invite_ended"]);
  });

  it("once: a clock that is set back brings neither a used nor a revoked one to life", async () => {
    const [used, revoked, late] = [
      await makeInvite(service, owner.key),
      await makeInvite(service, owner.key),
      await makeInvite(service, owner.key),
    ];
    await redeem(service, claimOf(newSigner(), used.code, now()));
    await service.ask("DELETE", `/api/auth/invites/${revoked.id}`, { key: owner.key });
    service.clock.advance(HOUR);
    await service.ask("DELETE", `/api/auth/invites/${late.id}`, { key: owner.key });
    service.clock.advance(-2 * HOUR);
    for (const { code } of [used, revoked, late]) {
      expect(await refusalOf(claimOf(newSigner(), code, now()))).toEqual([410, "invite_ended"]);
    }
  });
});

it("an invite that was refused for its age stays expired when the clock is set back", async () => {
  const { code, id } = await makeInvite(service, owner.key);
  service.clock.advance(HOUR);
  expect(await refusalOf(claimOf(newSigner(), code, now()))).toEqual([410, "invite_ended"]);
  service.clock.advance(-HOUR / 2);
  expect(await refusalOf(claimOf(newSigner(), code, now()))).toEqual([410, "invite_ended"]);
  const { body } = await service.ask("GET", "/api/auth/invites", { key: owner.key });
  expect(body["invites"]).toMatchObject([{ id, status: "expired", revokedAt: null }]);
  expect((await service.ask("DELETE", `/api/auth/invites/${id}`, { key: owner.key })).status).toBe(204);
});

describe("the signature", () => {
  it("may be 5 minutes off, to the millisecond, in both directions", async () => {
    for (const direction of [-1, 1]) {
      const { code } = await makeInvite(service, owner.key);
      const beyond = claimOf(newSigner(), code, now() + direction * (MAX_CLOCK_SKEW + 1));
      expect(await refusalOf(beyond)).toEqual([400, "clock_skew"]);
      const at = claimOf(newSigner(), code, now() + direction * MAX_CLOCK_SKEW);
      expect((await redeem(service, at)).status).toBe(201);
    }
  });

  it("[D4-redeem-signature D4-signed-at] is of this invite, address, time, origin, network and purpose", async () => {
    const [first, second] = [await makeInvite(service, owner.key), await makeInvite(service, owner.key)];
    const [signer, other] = [newSigner(), newSigner()];
    const claim = claimOf(signer, first.code, now());
    const link = signer.sign(
      renderLinkText({ ...TEST_PLACE, chainAddress: signer.chainAddress, accountId: owner.id, nonce: "n" }),
    );
    const moved: Claim[] = [
      { ...claim, code: second.code },
      { ...claim, chainAddress: other.chainAddress },
      { ...claim, signedAt: toTimestamp(now() + 1) },
      claimOf(signer, first.code, now(), { ...TEST_PLACE, origin: "https://localhost" }),
      claimOf(signer, first.code, now(), { ...TEST_PLACE, origin: "http://localhost:81" }),
      claimOf(signer, first.code, now(), { ...TEST_PLACE, network: "testnet" }),
      { ...claim, signature: link },
      { code: first.code, chainAddress: signer.chainAddress },
      { code: first.code, chainAddress: signer.chainAddress, signedAt: toTimestamp(now()) },
      { code: first.code, chainAddress: signer.chainAddress, signature: String(claim.signature) },
    ];
    for (const each of moved) expect(await refusalOf(each)).toEqual([400, "signature_invalid"]);
    for (const signedAt of ["2026-11-20T12:00:00Z", "2026-13-01T00:00:00.000Z", "soon"])
      expect(await refusalOf({ ...claim, signedAt })).toEqual([400, "validation_failed"]);
    expect((await redeem(service, claim)).status).toBe(201);
    expect(await refusalOf({ ...claim, chainAddress: other.chainAddress })).toEqual([410, "invite_ended"]);
  });

  it("needs an origin that only the operator can say, away from loopback", async () => {
    const { code } = await makeInvite(service, owner.key);
    const claim = claimOf(newSigner(), code, now(), { ...TEST_PLACE, origin: "http://coffer.example" });
    const headers = { host: "coffer.example" };
    const answer = await service.ask("POST", "/api/auth/invites/redeem", { json: claim, headers });
    expect([answer.status, errorCodeOf(answer)]).toEqual([501, "not_configured"]);
    expect(answer.text).toContain("SERVICE_PUBLIC_URL");
  });

  it("names the public address where there is one, whatever the Host header says", async () => {
    await using known = await openTestApp({ environment: { SERVICE_PUBLIC_URL: "https://coffer.example/base" } });
    const { key } = await known.signUp();
    const { code } = await makeInvite(known, key);
    const wrong = claimOf(newSigner(), code, known.clock.now());
    expect(errorCodeOf(await redeem(known, wrong))).toBe("signature_invalid");
    const right = claimOf(newSigner(), code, known.clock.now(), { ...TEST_PLACE, origin: "https://coffer.example" });
    expect((await redeem(known, right)).status).toBe(201);
  });

  it("[D4-redeem-waiver] is waived by a setting of development alone; one that is sent is looked at all the same", async () => {
    await using lax = await openTestApp({ environment: { SERVICE_ALLOW_UNSIGNED_REDEEM: "1" } });
    const { key } = await lax.signUp();
    const { code } = await makeInvite(lax, key);
    const { chainAddress } = newSigner();
    const wrong = { ...claimOf(newSigner(), code, lax.clock.now()), chainAddress };
    expect(errorCodeOf(await redeem(lax, wrong))).toBe("signature_invalid");
    expect((await redeem(lax, { code, chainAddress })).body).toMatchObject({ chainAddress, accessLevel: "agent" });
  });
});

describe("an invite is not used up", () => {
  it("by the owner's own address, nor by one that another account linked", async () => {
    const { code } = await makeInvite(service, owner.key);
    const [mine, theirs] = [newSigner(), newSigner()];
    await linkOwner(mine.chainAddress);
    await linkOwner(theirs.chainAddress, (await service.signUp()).id);
    for (const signer of [mine, theirs]) {
      expect(await refusalOf(claimOf(signer, code, now()))).toEqual([409, "address_conflict"]);
    }
    expect((await redeem(service, claimOf(newSigner(), code, now()))).status).toBe(201);
  });

  it("by an account that has all its keys", async () => {
    await using small = await openTestApp({ environment: { SERVICE_MAX_API_KEYS: "2" } });
    const { key } = await small.signUp();
    const { code } = await makeInvite(small, key);
    const { id } = await small.newKey(key);
    const claim = claimOf(newSigner(), code, small.clock.now());
    expect(errorCodeOf(await redeem(small, claim))).toBe("limit_reached");
    await small.ask("DELETE", `/api/auth/api-keys/${id}`, { key });
    expect((await redeem(small, claim)).status).toBe(201);
  });
});

describe("what happened since an invite was made", () => {
  it("leaves out vaults that are gone, and never turns none into all", async () => {
    const [kept, gone] = [await newVault("Kept"), await newVault("Gone")];
    const both = await makeInvite(service, owner.key, { vaultIds: [gone, kept] });
    const only = await makeInvite(service, owner.key, { vaultIds: [gone] });
    await service.ask("DELETE", `/api/vaults/${gone}?permanent=true`, { key: owner.key });
    expect((await redeem(service, claimOf(newSigner(), both.code, now()))).body).toMatchObject({
      vaultIds: [kept],
    });
    expect(await refusalOf(claimOf(newSigner(), only.code, now()))).toEqual([410, "invite_ended"]);
  });

  it("does not end the invites of a key that was revoked: like its keys, they are the owner's to revoke", async () => {
    const { id, key } = await service.newKey(owner.key);
    const { code } = await makeInvite(service, key);
    await service.ask("DELETE", `/api/auth/api-keys/${id}`, { key: owner.key });
    expect((await redeem(service, claimOf(newSigner(), code, now()))).status).toBe(201);
  });
});
