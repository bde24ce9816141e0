import { renderRedeemText } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { revokeKey, signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { newChainKey, type ChainKey } from "../kit/chain.ts";
import { querySql, runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { useService } from "../kit/service.ts";

const MINUTE = 60_000;
const service = useService();

const newKey = (): ChainKey => newChainKey(service().server.baseUrl);
const invite = async (rights: object = {}): Promise<string> =>
  textIn(
    fieldsAt(await service().ask("POST", "/api/auth/invites", { body: { name: "agent", ...rights } }), 201),
    "code",
  );
const redeem = (body: object) => service().ask("POST", "/api/auth/invites/redeem", { key: "", body });
const hashOf = (code: string): string => createHash("sha256").update(code).digest("hex");
const keysBoundTo = (address: string) =>
  querySql(service().dataDirectory, "SELECT id FROM api_keys WHERE chain_address = ?", address);

describe("redeeming an invite", () => {
  it("answers an agent's key bound to the address that signed, without a credential [D4-invite-redeem D4-redeem-signature S2.5-redeem S5.8-agent-key S5.1-invites-tie S5.1-address-only S1-invites D1-open-redeem S3-invite-used]", async () => {
    const vaultId = await service().makeVault("shared with the agent");
    const rights = { scopes: ["files:read", "files:write"], vaultIds: [vaultId] };
    const chain = newKey();
    const body = await chain.redeeming(await invite(rights));
    const fields = fieldsAt(await redeem(body), 201);
    expect(fields).toEqual({
      key: expect.stringMatching(/^cof_[0-9A-Za-z]{49}$/),
      keyId: expect.stringMatching(UUID),
      accountId: service().owner.id,
      ...rights,
      chainAddress: chain.address,
      accessLevel: "agent",
    });
    for (const secret of chain.secretForms) expect(JSON.stringify(body)).not.toContain(secret);
    const key = textIn(fields, "key");
    const { account, credential } = fieldsAt(await service().ask("GET", "/api/account", { key }), 200);
    expect(account).toMatchObject({ id: service().owner.id, accessLevel: "agent" });
    expect(credential).toMatchObject({ kind: "api-key", id: fields["keyId"], name: "agent", ...rights });
    const record = await service().ask("GET", `/api/auth/api-keys/${textIn(fields, "keyId")}`);
    expect(objectIn(fieldsAt(record, 200), "apiKey")).toMatchObject({
      accessLevel: "agent",
      chainAddress: chain.address,
      ...rights,
    });
  });

  it("gives the rights that were invited and no others [S2.6-agent-key D4-effective-rights]", async () => {
    const [mine, other] = [await service().makeVault("invited"), await service().makeVault("not invited")];
    const { key } = await service().inviteAgent({ scopes: ["files:read", "vaults:read"], vaultIds: [mine] });
    const vaults = listIn(fieldsAt(await service().ask("GET", "/api/vaults", { key }), 200), "vaults");
    expect(vaults.map((vault) => vault["id"])).toEqual([mine]);
    expectStatus(await service().ask("GET", `/api/files?vaultId=${mine}`, { key }), 200);
    expectError(await service().ask("GET", `/api/files?vaultId=${other}`, { key }), 404, "not_found");
    const write = { key, body: new Uint8Array(3) };
    expectError(await service().ask("POST", `/api/files?vaultId=${mine}&name=a`, write), 403, "missing_scope");
  });

  it("happens once: the second is 410, and of twelve at once one gets a key [S2.5-single-use S8-invite-uses D1-gone-410-invite D4-redeem-refusals]", async () => {
    const code = await invite();
    const chain = newKey();
    expectStatus(await redeem(await chain.redeeming(code)), 201);
    expectError(await redeem(await chain.redeeming(code)), 410, "invite_ended");
    expect(await keysBoundTo(chain.address)).toHaveLength(1);

    const contested = await invite();
    const agents = Array.from({ length: 12 }, newKey);
    const bodies = await Promise.all(agents.map((agent) => agent.redeeming(contested)));
    const answers = await Promise.all(bodies.map(redeem));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 11 }, () => 410)]);
    const bound = await Promise.all(agents.map(({ address }) => keysBoundTo(address)));
    expect(bound.flat()).toHaveLength(1);
  });

  it("is 404 for a code of nobody, 410 for an expired or a revoked one [D4-redeem-refusals D1-gone-410-invite S3-invite-revoked S3-invite-expired]", async () => {
    const chain = newKey();
    expectError(await redeem(await chain.redeeming("cofi_unknown")), 404, "not_found");
    const expired = await invite();
    const age = "UPDATE invites SET expires_at = ? WHERE hash = ?";
    await runSql(service().dataDirectory, age, Date.now() - 1, hashOf(expired));
    expectError(await redeem(await chain.redeeming(expired)), 410, "invite_ended");
    const fields = fieldsAt(await service().ask("POST", "/api/auth/invites", { body: { name: "gone" } }), 201);
    expectStatus(await service().ask("DELETE", `/api/auth/invites/${textIn(fields, "id")}`), 204);
    expectError(await redeem(await chain.redeeming(textIn(fields, "code"))), 410, "invite_ended");
    expect(await keysBoundTo(chain.address)).toEqual([]);
  });

  it("is 409 for the owner's own address, and leaves the invite open [D4-redeem-refusals S2.5-redeem]", async () => {
    const owner = await signUp(service().server.baseUrl);
    const chain = newKey();
    const asked = await service().ask("POST", "/api/account/link-chain/challenge", { key: owner.apiKey });
    const body = await chain.linking(owner.id, textIn(fieldsAt(asked, 200), "nonce"));
    expectStatus(await service().ask("POST", "/api/account/link-chain", { key: owner.apiKey, body }), 200);
    const call = { key: owner.apiKey, body: { name: "self" } };
    const code = textIn(fieldsAt(await service().ask("POST", "/api/auth/invites", call), 201), "code");
    expectError(await redeem(await chain.redeeming(code)), 409, "address_conflict");
    expectStatus(await redeem(await newKey().redeeming(code)), 201);
  });
});

describe("the redeemer's signature", () => {
  it("is of the last 5 minutes by the service's clock, else 400 [D4-redeem-refusals]", async () => {
    const code = await invite();
    const chain = newKey();
    for (const off of [-6 * MINUTE, 6 * MINUTE]) {
      const late = await chain.redeeming(code, { at: Date.now() + off });
      expectError(await redeem(late), 400, "clock_skew");
    }
    expectStatus(await redeem(await chain.redeeming(code, { at: Date.now() - 4 * MINUTE })), 201);
  });

  it("is for this code, address, time, service and network, as a personal message [D4-redeem-signature]", async () => {
    const code = await invite();
    const [chain, thief] = [newKey(), newKey()];
    const body = await chain.redeeming(code);
    const { baseUrl } = service().server;
    const place = { origin: new URL(baseUrl).origin, chainAddress: chain.address };
    const claim = { ...place, codeHash: hashOf(code), signedAt: body.signedAt };
    const wrong = [
      { ...body, chainAddress: thief.address },
      { ...body, signature: (await thief.redeeming(code)).signature },
      { ...body, signedAt: new Date(Date.parse(body.signedAt) - 1).toISOString() },
      await chain.redeeming(code, { origin: "https://service.example" }),
      { ...body, signature: await chain.sign(renderRedeemText({ ...claim, network: "testnet" })) },
      { ...body, signature: await chain.sign(`Coffer redeem v1\ncode: ${hashOf(code)}`) },
      { ...body, signature: (await chain.redeeming(await invite())).signature },
    ];
    for (const one of wrong) expectError(await redeem(one), 400, "signature_invalid");
    expectStatus(await redeem(body), 201);
  });

  it("says its time in RFC 3339, a month, day and hour that there are [D4-signed-at D1-dates]", async () => {
    const code = await invite();
    const chain = newKey();
    const body = await chain.redeeming(code);
    expect(body.signedAt).toMatch(TIMESTAMP);
    for (const signedAt of [
      Date.now(),
      String(Date.now()),
      "2026-11-32T00:00:00.000Z",
      "2026-13-01T00:00:00.000Z",
      "soon",
    ])
      expectError(await redeem({ ...body, signedAt }), 400, "validation_failed");
    expectStatus(await redeem(body), 201);
  });

  it("cannot be left out, unless a development server says so [D4-redeem-waiver]", async () => {
    const chainAddress = newKey().address;
    const code = await invite();
    const refused = await redeem({ code, chainAddress });
    expect(refused.status).toBe(400);
    const variables = { ...service().variables, SERVICE_ALLOW_UNSIGNED_REDEEM: "1" };
    await using waiving = await startServerProcess(variables);
    const body = { code, chainAddress };
    expectStatus(await send(waiving.baseUrl, "/api/auth/invites/redeem", { method: "POST", body }), 201);
  });
});

describe("an agent's key", () => {
  it("ends with its revocation, at once [S5.3-immediate-revocation]", async () => {
    const agent = await service().inviteAgent();
    expectStatus(await service().ask("GET", "/api/files", { key: agent.key }), 200);
    expectStatus(await revokeKey(service().server.baseUrl, service().owner.apiKey, agent.keyId), 204);
    expectError(await service().ask("GET", "/api/files", { key: agent.key }), 401, "invalid_credential");
  });
});
