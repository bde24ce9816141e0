import { Readable } from "node:stream";
import { renderDeletionText, renderKeyAddressText, renderLinkText } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { newTestVault } from "../../drivers/chain/chain.test-kit.ts";
import { openTestApp, type TestAnswer } from "../../app.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { MOST_LIVE } from "../chain-proofs/challenges.ts";
import type { TestSigner } from "../chain-proofs/signer.test-kit.ts";
import { claimOf, errorCodeOf, makeInvite, newSigner, redeem, TEST_PLACE } from "../invites/invites.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

const service = ofEachTest(openTestApp);
const owner = ofEachTest(() => service.signUp());

async function challenge(key = owner.key): Promise<string> {
  const { body } = await service.ask("POST", "/api/account/link-chain/challenge", { key });
  return String(body["nonce"]);
}

function present(signer: TestSigner, nonce: string, from: { id: string; key: string } = owner, more = {}) {
  const { chainAddress } = signer;
  const text = renderLinkText({ ...TEST_PLACE, chainAddress, accountId: from.id, nonce, ...more });
  const json = { chainAddress, signature: signer.sign(text), nonce };
  return service.ask("POST", "/api/account/link-chain", { key: from.key, json });
}

async function link(signer: TestSigner, from = owner): Promise<TestAnswer> {
  return present(signer, await challenge(from.key), from);
}

const outcomeOf = (answer: TestAnswer) => [answer.status, errorCodeOf(answer)];

const newKey = (json: object = {}) => service.newKey(owner.key, json);

/** A key that is bound to an address which proved to be there. */
function boundKey(signer: TestSigner, more: object = {}) {
  const { chainAddress } = signer;
  const signedAt = toTimestamp(service.clock.now());
  const text = renderKeyAddressText({ ...TEST_PLACE, chainAddress, accountId: owner.id, signedAt });
  return newKey({ chainAddress, addressProof: { signature: signer.sign(text), signedAt }, ...more });
}

const levelOf = async (key: string) => {
  const { body } = await service.ask("GET", "/api/account", { key });
  return (body["account"] as { accessLevel: string }).accessLevel;
};

describe("linking a chain address", () => {
  it("keeps the key that signed, and a key of the address is shown with it", async () => {
    const signer = newSigner();
    await link(signer);
    const { id } = await newKey({ chainAddress: signer.chainAddress });
    const { body } = await service.ask("GET", `/api/auth/api-keys/${id}`, { key: owner.key });
    expect(body["apiKey"]).toMatchObject({ chainPublicKey: Buffer.from(signer.publicKey).toString("base64") });
  });

  it("[D4-link-chain] [S2.6-chain-address-source] [S5.7-link-chain] answers the account with its address, source external", async () => {
    const { body } = await service.ask("POST", "/api/account/link-chain/challenge", { key: owner.key });
    expect(Buffer.from(String(body["nonce"]), "base64url")).toHaveLength(32);
    expect(body["expiresAt"]).toBe("2026-11-20T12:10:00.000Z");
    const signer = newSigner();
    const linked = await present(signer, String(body["nonce"]));
    expect(linked.status).toBe(200);
    const expected = {
      id: owner.id,
      accessLevel: "owner",
      chainAddress: signer.chainAddress,
      chainAddressSource: "external",
    };
    expect(linked.body["account"]).toMatchObject(expected);
    expect((await service.ask("GET", "/api/account", { key: owner.key })).body["account"]).toMatchObject(expected);
    const { database } = service.deps;
    const rows = await database.all(
      database.build.selectFrom("changes").selectAll().orderBy("sequence", "desc").limit(1),
    );
    expect(rows[0]).toMatchObject({ action: "account.chain_linked" });
    expect(service.logged()).not.toContain(String(body["nonce"]));
  });

  it("again with the same address changes nothing", async () => {
    const signer = newSigner();
    await link(signer);
    const { database } = service.deps;
    const read = () => database.all(database.build.selectFrom("changes").select("id"));
    const before = await read();
    expect((await link(signer)).status).toBe(200);
    expect(await read()).toEqual(before);
  });
});

describe("a challenge", () => {
  it("is for 10 minutes, to the millisecond", async () => {
    const [early, exact] = [await challenge(), await challenge()];
    service.clock.advance(10 * MINUTE - 1);
    expect((await present(newSigner(), early)).status).toBe(200);
    service.clock.advance(1);
    expect(outcomeOf(await present(newSigner(), exact))).toEqual([400, "token_invalid"]);
  });

  it("is used up by being presented, also with a signature that does not hold, and by no clock set back unused", async () => {
    const signer = newSigner();
    const nonce = await challenge();
    expect(outcomeOf(await present(signer, nonce, owner, { network: "mainnet" }))).toEqual([400, "signature_invalid"]);
    expect(outcomeOf(await present(signer, nonce))).toEqual([400, "token_invalid"]);
    service.clock.advance(-DAY);
    expect(outcomeOf(await present(signer, nonce))).toEqual([400, "token_invalid"]);
  });

  it("works once for fifty who present it together [Z1]", async () => {
    const nonce = await challenge();
    const signer = newSigner();
    const answers = await Promise.all(Array.from({ length: 50 }, () => present(signer, nonce)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(errorCodeOf))).toEqual(new Set([undefined, "token_invalid"]));
  });

  it("is the credential's that asked, of its account [Z1]", async () => {
    const second = { id: owner.id, key: (await newKey()).key };
    const stranger = await service.signUp();
    const nonce = await challenge();
    for (const from of [second, stranger]) {
      expect(outcomeOf(await present(newSigner(), nonce, from))).toEqual([400, "token_invalid"]);
    }
    expect((await present(newSigner(), nonce)).status).toBe(200);
  });

  it("is bound to service, network, account and address by what is signed", async () => {
    const stranger = await service.signUp();
    const moved = [
      { origin: "https://elsewhere.example" },
      { network: "testnet" },
      { accountId: stranger.id },
      { chainAddress: newSigner().chainAddress },
      { nonce: await challenge() },
    ];
    for (const more of moved) {
      const answer = await present(newSigner(), await challenge(), owner, more);
      expect([more, ...outcomeOf(answer)]).toEqual([more, 400, "signature_invalid"]);
    }
    const odd = await service.ask("POST", "/api/account/link-chain", {
      key: owner.key,
      json: { chainAddress: newSigner().chainAddress, signature: "AAAA", nonce: "a\nb c" },
    });
    expect(outcomeOf(odd)).toEqual([400, "token_invalid"]);
  });

  it("gives way to newer ones: no more than a hundred of a credential are kept", async () => {
    const nonces = [];
    for (let n = 0; n <= MOST_LIVE; n += 1) {
      nonces.push(await challenge());
      service.clock.advance(1);
    }
    const { database } = service.deps;
    expect(await database.all(database.build.selectFrom("chain_challenges").select("expires_at"))).toHaveLength(
      MOST_LIVE,
    );
    expect(outcomeOf(await present(newSigner(), String(nonces[0])))).toEqual([400, "token_invalid"]);
    expect((await present(newSigner(), String(nonces[1]))).status).toBe(200);
  });

  it("is not burnt where the service cannot say its origin", async () => {
    const nonce = await challenge();
    const json = { chainAddress: newSigner().chainAddress, signature: "AAAA", nonce };
    const headers = { host: "coffer.example" };
    const answer = await service.ask("POST", "/api/account/link-chain", { key: owner.key, json, headers });
    expect(outcomeOf(answer)).toEqual([501, "not_configured"]);
    expect((await present(newSigner(), nonce)).status).toBe(200);
  });
});

describe("an address that is in use", () => {
  it("[D4-level-agent-for-ever] by a live agent's key cannot become the owner's", async () => {
    const signer = newSigner();
    const { code } = await makeInvite(service, owner.key);
    const { body } = await redeem(service, claimOf(signer, code, service.clock.now()));
    expect(outcomeOf(await link(signer))).toEqual([409, "address_conflict"]);
    expect(await levelOf(String(body["key"]))).toBe("agent");
    await service.ask("DELETE", `/api/auth/api-keys/${String(body["keyId"])}`, { key: owner.key });
    expect((await link(signer)).status).toBe(200);
  });

  it("by a key of another account cannot be linked", async () => {
    const signer = newSigner();
    await boundKey(signer);
    expect(outcomeOf(await link(signer, await service.signUp()))).toEqual([409, "address_conflict"]);
  });

  it("[D4-link-other-account] by another account cannot be linked, nor bound to a key", async () => {
    const signer = newSigner();
    const stranger = await service.signUp();
    expect((await link(signer, stranger)).status).toBe(200);
    expect(outcomeOf(await link(signer))).toEqual([409, "address_conflict"]);
  });

  it("by two accounts at once is linked to one", async () => {
    const signer = newSigner();
    const accounts = [owner, await service.signUp(), await service.signUp()];
    const nonces = await Promise.all(accounts.map(({ key }) => challenge(key)));
    const answers = await Promise.all(accounts.map((from, index) => present(signer, String(nonces[index]), from)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it("by an expired key is free, and the key never comes back as the owner's when the clock is set back", async () => {
    const signer = newSigner();
    const { key, id } = await boundKey(signer, { expiresInDays: 1 });
    service.clock.advance(DAY - 1);
    expect(outcomeOf(await link(signer))).toEqual([409, "address_conflict"]);
    service.clock.advance(1);
    expect((await link(signer)).status).toBe(200);
    service.clock.advance(-DAY / 2);
    expect((await service.ask("GET", "/api/account", { key })).status).toBe(401);
    const { body } = await service.ask("GET", `/api/auth/api-keys/${id}`, { key: owner.key });
    // It has expired: that it was ended at that very moment is no revocation.
    expect(body["apiKey"]).toMatchObject({ expiresAt: "2026-11-21T12:00:00.000Z", revokedAt: null });
  });
});

describe("linking another address", () => {
  it("makes keys of the old one an agent's, and none an owner's", async () => {
    const [first, second] = [newSigner(), newSigner()];
    await link(first);
    const own = await newKey({ chainAddress: first.chainAddress });
    const agent = await boundKey(newSigner());
    expect([await levelOf(own.key), await levelOf(agent.key), await levelOf(owner.key)]).toEqual([
      "owner",
      "agent",
      "owner",
    ]);
    expect((await link(second)).status).toBe(200);
    expect([await levelOf(own.key), await levelOf(agent.key), await levelOf(owner.key)]).toEqual([
      "agent",
      "agent",
      "owner",
    ]);
    // Back again would widen the key.
    expect(outcomeOf(await link(first))).toEqual([409, "address_conflict"]);
  });

  it("holds for owner's requests of such a key that are under way: none makes a key or an invite any more", async () => {
    await link(newSigner());
    const { body: me } = await service.ask("GET", "/api/account", { key: owner.key });
    const { chainAddress } = me["account"] as { chainAddress: string };
    const own = await newKey({ chainAddress });
    const authorization = `Bearer ${own.key}`;
    const headers = { authorization, "content-type": "application/json", "transfer-encoding": "chunked" };
    const begin = (url: string) => {
      const payload = new Readable({ read: () => undefined });
      const request = service.app.inject({ method: "POST", url, headers, payload });
      return { payload, answer: request.then(({ headers, statusCode }) => [statusCode, headers["x-error-code"]]) };
    };
    const slow = ["/api/auth/api-keys", "/api/auth/invites"].map(begin);
    expect((await link(newSigner())).status).toBe(200);
    for (const { payload } of slow) {
      payload.push(JSON.stringify({ name: "Kept" }));
      payload.push(null);
    }
    for (const { answer } of slow) expect(await answer).toEqual([403, "owner_only"]);
  });

  it("is not for a key that is bound to the present one: it would lock itself out", async () => {
    const first = newSigner();
    await link(first);
    const own = { id: owner.id, key: (await newKey({ chainAddress: first.chainAddress })).key };
    expect(outcomeOf(await link(newSigner(), own))).toEqual([409, "address_conflict"]);
    expect((await link(newSigner())).status).toBe(200);
  });

  it("[D4-relink] waits until every shared vault is transferred on the chain", async () => {
    const [first, next, another] = [newSigner(), newSigner(), newSigner()];
    await link(first);
    const made = await Promise.all(["a", "b"].map((digit) => shareVault(digit, first)));
    const handOver = ({ objectId, vault }: (typeof made)[number]) =>
      service.chain.set(objectId, {
        ...vault,
        generation: 2,
        owner: { ...vault.owner, address: another.chainAddress },
      });
    expect(outcomeOf(await link(next))).toEqual([409, "address_conflict"]);
    for (const one of made) {
      expect(outcomeOf(await link(next))).toEqual([409, "address_conflict"]);
      handOver(one);
    }
    for (const fault of [{ skew: 31_000 }, { skew: -31_000 }, { skew: 0, down: true }]) {
      Object.assign(service.chain, fault);
      expect(outcomeOf(await link(next))).toEqual([409, "address_conflict"]);
    }
    service.chain.down = false;
    expect((await link(next)).status).toBe(200);
    // What belongs to another address by now does not bind this one.
    expect((await link(newSigner())).status).toBe(200);
  });

  it("[D4-relink] is free once the shared vaults are deleted for good: in the trash they are the address's still", async () => {
    const first = newSigner();
    await link(first);
    const { id, objectId } = await shareVault("a", first);
    expect(outcomeOf(await link(newSigner()))).toEqual([409, "address_conflict"]);
    const remove = async (act: "delete-vault" | "purge-vault", query: string) => {
      const path = `/api/vaults/${id}`;
      const asked = await service.ask("POST", `${path}/deletion-challenge`, { key: owner.key, json: { act } });
      const nonce = String(asked.body["nonce"]);
      const whose = { chainAddress: first.chainAddress, accountId: owner.id, chainObjectId: objectId };
      const text = renderDeletionText({ ...TEST_PLACE, ...whose, act, vaultId: id, nonce });
      const headers = { "coffer-proof": `${nonce}.${first.sign(text)}` };
      return (await service.ask("DELETE", `${path}${query}`, { key: owner.key, headers })).status;
    };
    expect(await remove("delete-vault", "")).toBe(200);
    expect(outcomeOf(await link(newSigner()))).toEqual([409, "address_conflict"]);
    expect(await remove("purge-vault", "?permanent=true")).toBe(204);
    expect((await link(newSigner())).status).toBe(200);
  });

  async function shareVault(digit: string, by: TestSigner) {
    const objectId = `0x${digit.repeat(64)}`;
    const vault = newTestVault({ address: by.chainAddress, signingKey: by.publicKey });
    service.chain.set(objectId, vault);
    const json = { name: digit, type: "shared", chainObjectId: objectId };
    const { status, body, text } = await service.ask("POST", "/api/vaults", { key: owner.key, json });
    expect(status, text).toBe(201);
    return { objectId, vault, id: (body["vault"] as { id: string }).id };
  }
});
