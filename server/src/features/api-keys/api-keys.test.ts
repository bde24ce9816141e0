/** Keys and the chain addresses that they are bound to (decisions §4); what a key looks like is in the acceptance tests. */
import {
  AGENT_SCOPES,
  MAX_CLOCK_SKEW,
  renderKey,
  renderKeyAddressText,
  renderLinkText,
  renderRedeemText,
  SCOPES,
} from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { openTestApp, type TestAnswer } from "../../app.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { logInAgain, signUpWithPassword } from "../auth/accounts.test-kit.ts";
import type { TestSigner } from "../chain-proofs/signer.test-kit.ts";
import { claimOf, errorCodeOf, newSigner, redeem, TEST_PLACE } from "../invites/invites.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const HOUR = 3_600_000;

const service = ofEachTest(openTestApp);
const owner = ofEachTest(() => service.signUp());

const now = () => service.clock.now();
const outcomeOf = (answer: TestAnswer) => [answer.status, errorCodeOf(answer)];

const create = (json: object, key = owner.key) =>
  service.ask("POST", "/api/auth/api-keys", { key, json: { name: "K", ...json } });

function bindingOf(signer: TestSigner, at = now(), more = {}) {
  const { chainAddress } = signer;
  const signedAt = toTimestamp(at);
  const text = renderKeyAddressText({ ...TEST_PLACE, chainAddress, accountId: owner.id, signedAt, ...more });
  return { chainAddress, addressProof: { signature: signer.sign(text), signedAt } };
}

async function linkTo(chainAddress: string, id = owner.id): Promise<void> {
  const { database } = service.deps;
  await database.run(database.build.updateTable("accounts").set({ chain_address: chainAddress }).where("id", "=", id));
}

async function stateOf(id: unknown): Promise<Record<string, unknown>> {
  const { body } = await service.ask("GET", `/api/auth/api-keys/${String(id)}`, { key: owner.key });
  return body["apiKey"] as Record<string, unknown>;
}

const statusOf = async (key: unknown) => (await service.ask("GET", "/api/account", { key: String(key) })).status;

it("[D4-expiry-fraction] [S2.4-expiry] a key of half a day lives twelve hours, to the millisecond", async () => {
  const { body } = await create({ expiresInDays: 0.5 });
  expect(body["expiresAt"]).toBe(toTimestamp(now() + 12 * HOUR));
  service.clock.advance(12 * HOUR - 1);
  expect(await statusOf(body["key"])).toBe(200);
  service.clock.advance(1);
  expect(await statusOf(body["key"])).toBe(401);
  const third = await create({ expiresInDays: 1 / 7 });
  expect(third.body["expiresAt"]).toBe(toTimestamp(now() + Math.ceil((24 * HOUR) / 7)));
});

describe("a key that is bound to a chain address", () => {
  it("[D4-keys-create-chain] [S2.4-chain-address S2.6-access-level S2.6-agent-key] proves the address, and is an agent's", async () => {
    const signer = newSigner();
    const made = await create(bindingOf(signer));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ chainAddress: signer.chainAddress, scopes: null });
    const bound = {
      chainAddress: signer.chainAddress,
      chainPublicKey: Buffer.from(signer.publicKey).toString("base64"),
    };
    expect(await stateOf(made.body["id"])).toMatchObject({ accessLevel: "agent", ...bound });
    const rotated = await service.ask("POST", `/api/auth/api-keys/${String(made.body["id"])}/rotate`, {
      key: owner.key,
      json: {},
    });
    expect(await stateOf(rotated.body["id"])).toMatchObject(bound);
    expect(await stateOf((await create({})).body["id"])).toMatchObject({ chainPublicKey: null });
  });

  it("[D0-public-keys] [S5.1-address-only] is kept with the public key that its signature shows, and nothing more of the key", async () => {
    const signer = newSigner();
    const binding = bindingOf(signer);
    const { body } = await create(binding);
    const { chainPublicKey } = await stateOf(body["id"]);
    // Sui's serialised signature: flag, 64 bytes of signature, 32 of public key.
    const shown = Buffer.from(binding.addressProof.signature, "base64").subarray(65);
    expect(chainPublicKey).toBe(shown.toString("base64"));
    const { database } = service.deps;
    const rows = JSON.stringify(await database.all(database.build.selectFrom("api_keys").selectAll()));
    const seed = Buffer.from(signer.seed);
    for (const form of ["hex", "base64", "base64url"] as const) expect(rows).not.toContain(seed.toString(form));
  });

  it("needs no proof of the account's own linked address, and is the owner's", async () => {
    const { chainAddress } = newSigner();
    await linkTo(chainAddress);
    const made = await create({ chainAddress });
    expect(made.status).toBe(201);
    expect(await stateOf(made.body["id"])).toMatchObject({ accessLevel: "owner", chainAddress });
  });

  it("is refused without a proof that holds: address, account, place, time and purpose", async () => {
    const signer = newSigner();
    const { chainAddress } = signer;
    const stranger = await service.signUp();
    const redeemed = renderRedeemText({
      ...TEST_PLACE,
      chainAddress,
      codeHash: owner.id,
      signedAt: toTimestamp(now()),
    });
    const refused = [
      { chainAddress },
      { ...bindingOf(signer), chainAddress: newSigner().chainAddress },
      bindingOf(signer, now(), { accountId: stranger.id }),
      bindingOf(signer, now(), { origin: "http://127.0.0.1" }),
      bindingOf(signer, now(), { network: "mainnet" }),
      { chainAddress, addressProof: { ...bindingOf(signer).addressProof, signedAt: toTimestamp(now() + 1) } },
      { chainAddress, addressProof: { signature: signer.sign(redeemed), signedAt: toTimestamp(now()) } },
    ];
    for (const json of refused) expect(outcomeOf(await create(json))).toEqual([400, "signature_invalid"]);
    const { addressProof } = bindingOf(signer);
    expect(outcomeOf(await create({ addressProof }))).toEqual([400, "validation_failed"]);
  });

  it("takes a proof that is 5 minutes off, and no millisecond more", async () => {
    for (const direction of [-1, 1]) {
      const beyond = bindingOf(newSigner(), now() + direction * (MAX_CLOCK_SKEW + 1));
      expect(outcomeOf(await create(beyond))).toEqual([400, "clock_skew"]);
      expect((await create(bindingOf(newSigner(), now() + direction * MAX_CLOCK_SKEW))).status).toBe(201);
    }
  });

  it("is refused for the address of another account", async () => {
    const signer = newSigner();
    await linkTo(signer.chainAddress, (await service.signUp()).id);
    expect(outcomeOf(await create(bindingOf(signer)))).toEqual([409, "address_conflict"]);
  });

  it("asks for no scope that only owners have", async () => {
    for (const scope of SCOPES) {
      const made = await create({ ...bindingOf(newSigner()), scopes: [scope] });
      expect([scope, errorCodeOf(made)]).toEqual([
        scope,
        AGENT_SCOPES.includes(scope) ? undefined : "scope_owner_only",
      ]);
    }
  });

  it("inherits of its maker what an agent may have", async () => {
    const maker = async (scopes: string[]) => String((await create({ scopes })).body["key"]);
    const made = await create(bindingOf(newSigner()), await maker(["api-keys:write", "files:read", "audit:read"]));
    expect(made.body).toMatchObject({ scopes: ["files:read"] });
    const nothing = await create(bindingOf(newSigner()), await maker(["api-keys:write"]));
    expect(outcomeOf(nothing)).toEqual([400, "scope_too_wide"]);
  });

  it("needs an origin that the operator vouches for", async () => {
    const json = { name: "K", ...bindingOf(newSigner()) };
    const headers = { host: "coffer.example" };
    const answer = await service.ask("POST", "/api/auth/api-keys", { key: owner.key, json, headers });
    expect(outcomeOf(answer)).toEqual([501, "not_configured"]);
  });
});

describe("[D4-keys-rotate] rotating a key", () => {
  const rotate = (id: unknown, overlapHours?: number) =>
    service.ask("POST", `/api/auth/api-keys/${String(id)}/rotate`, {
      key: owner.key,
      json: overlapHours === undefined ? {} : { overlapHours },
    });

  it("takes an overlap of 168 hours at most", async () => {
    const { body } = await create({});
    expect(outcomeOf(await rotate(body["id"], 169))).toEqual([400, "validation_failed"]);
  });

  it("keeps its rights and its binding: an agent's key stays an agent's", async () => {
    const { body } = await create({ ...bindingOf(newSigner()), scopes: ["files:read"], expiresInDays: 2 });
    const { id, key, name, scopes, chainAddress, expiresAt } = body;
    const next = await rotate(id);
    expect(next.body).toMatchObject({ name, scopes, chainAddress, expiresAt });
    expect(next.body["key"]).not.toBe(key);
    expect(await stateOf(next.body["id"])).toMatchObject({ accessLevel: "agent" });
    expect([await statusOf(key), await statusOf(next.body["key"])]).toEqual([401, 200]);
  });

  it("lets the old key go on for the overlap, to the millisecond, and no clock set back revives what was rotated at once", async () => {
    const { body } = await create({});
    const next = await rotate(body["id"], 2);
    service.clock.advance(2 * HOUR - 1);
    expect(await statusOf(body["key"])).toBe(200);
    service.clock.advance(1);
    expect([await statusOf(body["key"]), await statusOf(next.body["key"])]).toEqual([401, 200]);
    expect(outcomeOf(await rotate(body["id"]))).toEqual([409, "key_inactive"]);
    const last = await rotate(next.body["id"], 0);
    service.clock.advance(-HOUR);
    expect([await statusOf(next.body["key"]), await statusOf(last.body["key"])]).toEqual([401, 200]);
  });

  it("never puts off the end that a key has", async () => {
    const { body } = await create({ expiresInDays: 1 });
    await rotate(body["id"], 168);
    expect(await stateOf(body["id"])).toMatchObject({ expiresAt: body["expiresAt"] });
  });

  it("is one key more during the overlap, which the limit counts", async () => {
    await using small = await openTestApp({ environment: { SERVICE_MAX_API_KEYS: "1" } });
    const { key } = await small.signUp();
    const listed = await small.ask("GET", "/api/auth/api-keys", { key });
    const [{ id }] = listed.body["apiKeys"] as [{ id: string }];
    const path = `/api/auth/api-keys/${id}/rotate`;
    expect(errorCodeOf(await small.ask("POST", path, { key, json: { overlapHours: 1 } }))).toBe("limit_reached");
    expect((await small.ask("GET", "/api/account", { key })).status).toBe(200);
    expect((await small.ask("POST", path, { key })).status).toBe(201);
  });
});

it("a revoked, an expired and a mistyped key each say what they are, and an unknown one no more than that [issue 48]", async () => {
  const said = async (key: unknown) => (await service.ask("GET", "/api/account", { key: String(key) })).body["error"];
  const { body } = await create({});
  await service.ask("DELETE", `/api/auth/api-keys/${String(body["id"])}`, { key: owner.key });
  expect(await said(body["key"])).toBe("The API key was revoked");
  const { body: short } = await create({ expiresInDays: 1 });
  service.clock.advance(86_400_001);
  expect(await said(short["key"])).toBe("The API key has expired");
  const [whole, unknown] = [String(body["key"]), renderKey(new Uint8Array(32).fill(7))];
  for (const wrong of [whole.slice(0, -1), `${whole}0`, whole.replace(/.$/, (last) => (last === "0" ? "1" : "0"))])
    expect(await said(wrong)).toBe("The API key is mistyped or cut off: its check digits do not fit");
  expect(await said(unknown)).toBe("Missing or invalid credential");
});

it("a revoked key fails on the next request, and says when it was last used", async () => {
  const { body } = await create({});
  service.clock.advance(1000);
  expect(await statusOf(body["key"])).toBe(200);
  await service.ask("DELETE", `/api/auth/api-keys/${String(body["id"])}`, { key: owner.key });
  expect(await statusOf(body["key"])).toBe(401);
  service.clock.advance(-2000);
  expect(await statusOf(body["key"])).toBe(401);
});

describe("a key that is revoked while it asks", () => {
  it("makes nothing once it is revoked: no key, no rotation, no invite", async () => {
    const { database } = service.deps;
    for (let round = 0; round < 12; round += 1) {
      const { body } = await create({});
      const [id, key] = [String(body["id"]), String(body["key"])];
      const asks = [
        () => create({}, key),
        () => service.ask("POST", `/api/auth/api-keys/${id}/rotate`, { key, json: { overlapHours: 1 } }),
        () => service.ask("POST", "/api/auth/invites", { key, json: { name: "I" } }),
      ];
      const revoke = () => service.ask("DELETE", `/api/auth/api-keys/${id}`, { key: owner.key });
      await Promise.all(
        round % 2 === 0 ? [revoke(), ...asks.map((ask) => ask())] : [...asks.map((ask) => ask()), revoke()],
      );
      const changes = await database.all(database.build.selectFrom("changes").selectAll().orderBy("sequence"));
      const end = changes.findIndex((row) => row.action === "api_key.revoked" && row.target_json.includes(id));
      const late = changes.slice(end + 1).filter((row) => row.actor_json.includes(id));
      expect([end > 0, late.map(({ action }) => action)]).toEqual([true, []]);
    }
  });
});

describe("what a maker holds and is gone", () => {
  it("is left out of what it makes, and refused only where it is asked for by name", async () => {
    const [kept, gone] = [await service.newVault(owner.key, "Kept"), await service.newVault(owner.key, "Gone")];
    const { key: maker } = await service.newKey(owner.key, { vaultIds: [kept, gone] });
    const { key: lost } = await service.newKey(owner.key, { vaultIds: [gone] });
    await service.ask("DELETE", `/api/vaults/${gone}?permanent=true`, { key: owner.key });
    expect((await create({}, maker)).body).toMatchObject({ vaultIds: [kept] });
    expect(outcomeOf(await create({ vaultIds: [kept, gone] }, maker))).toEqual([404, "not_found"]);
    expect(outcomeOf(await create({}, lost))).toEqual([404, "not_found"]);
    const invite = (key: string) => service.ask("POST", "/api/auth/invites", { key, json: { name: "I" } });
    expect((await invite(maker)).body).toMatchObject({ vaultIds: [kept] });
    expect(outcomeOf(await invite(lost))).toEqual([404, "not_found"]);
  });
});

describe("a web session", () => {
  it("makes keys and invites that outlast its access token, and links addresses by its own challenge", async () => {
    const { accessToken, user, email } = await signUpWithPassword(service);
    const made = await create({}, accessToken);
    expect(made.body).toMatchObject({ expiresAt: null });
    const invite = await service.ask("POST", "/api/auth/invites", {
      key: accessToken,
      json: { name: "I", expiresInHours: 72 },
    });
    expect(invite.body).toMatchObject({ expiresAt: "2026-11-23T12:00:00.000Z" });
    service.clock.advance(16 * 60_000);
    const agent = await redeem(service, claimOf(newSigner(), String(invite.body["code"]), now()));
    expect([await statusOf(accessToken), await statusOf(made.body["key"]), await statusOf(agent.body["key"])]).toEqual([
      401, 200, 200,
    ]);

    const [first, second] = [await logInAgain(service, email), await logInAgain(service, email)];
    const { body } = await service.ask("POST", "/api/account/link-chain/challenge", { key: first.accessToken });
    const { chainAddress, ...signer } = newSigner();
    const nonce = String(body["nonce"]);
    const text = renderLinkText({ ...TEST_PLACE, chainAddress, accountId: user.id, nonce });
    const json = { chainAddress, signature: signer.sign(text), nonce };
    const present = (key: string) => service.ask("POST", "/api/account/link-chain", { key, json });
    expect(outcomeOf(await present(second.accessToken))).toEqual([400, "token_invalid"]);
    expect(outcomeOf(await present(String(made.body["key"])))).toEqual([400, "token_invalid"]);
    expect((await present(first.accessToken)).body["account"]).toMatchObject({ chainAddress, accessLevel: "owner" });
  });
});
