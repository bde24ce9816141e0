/** Accounts, invites, chain addresses, plans and the audit log, as the client sees them. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { beforeEach, describe, expect, it } from "vitest";
import { chainKeySigner, generateChainKey } from "./chain/chain-key.ts";
import type { Signer } from "./chain/signer.ts";
import { createClient, type Client } from "./client.ts";
import { signPayment } from "./testing/fake/billing.ts";
import { createFake, type Fake } from "./testing/index.ts";

const BASE_URL = "https://coffer.test";
const PASSWORD = "seven unrelated words of mine";

let fake: Fake;
let now: number;
let owner: Client;
let visitor: Client;
/** Every body that was sent, as text. */
let bodies: string[];

beforeEach(async () => {
  now = Date.now();
  bodies = [];
  fake = createFake({ now: () => now });
  visitor = createClient({ baseUrl: BASE_URL, transport });
  const { apiKey } = await visitor.development.signup({ email: "owner@example.com" });
  owner = connect(apiKey);
});

async function transport(request: Request): Promise<Response> {
  bodies.push(await request.clone().text());
  return fake.fetch(request);
}

function connect(apiKey: string): Client {
  return createClient({ baseUrl: BASE_URL, transport, credentials: { apiKey } });
}

async function newSigner(): Promise<Signer> {
  return chainKeySigner((await generateChainKey()).privateKey);
}

describe("a person", () => {
  const email = "me@example.com";
  const signUp = () => visitor.auth.signup({ email, password: PASSWORD, accessCode: fake.addAccessCode() });

  it("signs up with a code that works once, confirms the address, and signs in", async () => {
    const accessCode = fake.addAccessCode();
    expect(await visitor.auth.checkAccessCode(accessCode)).toBe(true);
    const { user, expiresIn } = await visitor.auth.signup({ email, password: PASSWORD, accessCode });
    expect([user.email, user.emailVerified, user.plan, expiresIn]).toEqual([email, false, "free", 900]);
    expect(await visitor.auth.checkAccessCode(accessCode)).toBe(false);
    const again = { email: "other@example.com", password: PASSWORD, accessCode };
    await expect(visitor.auth.signup(again)).rejects.toMatchObject({ code: "access_code_invalid", status: 403 });
    const token = fake.mails.at(-1)?.token ?? "";
    await visitor.auth.verifyEmail(token);
    await expect(visitor.auth.verifyEmail(token)).rejects.toMatchObject({ code: "token_invalid" });
    expect((await visitor.auth.login({ email, password: PASSWORD })).user.emailVerified).toBe(true);
    const wrong = visitor.auth.login({ email, password: "something else entirely" });
    await expect(wrong).rejects.toMatchObject({ code: "wrong_credentials", nextStep: expect.any(String) });
  });

  it("sets a new password with a mailed token, which ends every session", async () => {
    const { refreshToken } = await signUp();
    await visitor.auth.forgotPassword(email);
    expect(await visitor.auth.forgotPassword("nobody@example.com")).toEqual(await visitor.auth.forgotPassword(email));
    const { token = "" } = fake.mails.findLast(({ purpose }) => purpose === "reset") ?? {};
    await visitor.auth.resetPassword({ token, newPassword: "quite another set of words" });
    await expect(visitor.auth.refresh(refreshToken)).rejects.toMatchObject({ code: "session_ended" });
    await visitor.auth.login({ email, password: "quite another set of words" });
  });

  it("lists sessions, ends one, and loses the others with a new password", async () => {
    const [first, second] = [await signUp(), await visitor.auth.login({ email, password: PASSWORD })];
    const mine = connect(second.accessToken);
    const { sessions } = await mine.sessions.list();
    expect(sessions.map(({ current }) => current)).toEqual([true, false]);
    await mine.sessions.end(sessions[1]?.id ?? "");
    await expect(connect(first.accessToken).account.get()).rejects.toMatchObject({ code: "invalid_credential" });
    const third = await visitor.auth.login({ email, password: PASSWORD });
    await mine.auth.changePassword({ currentPassword: PASSWORD, newPassword: "quite another set of words" });
    await expect(connect(third.accessToken).account.get()).rejects.toMatchObject({ status: 401 });
    expect((await mine.account.get()).credential.kind).toBe("session");
  });

  it("signs in at the identity provider, with and without zkLogin", async () => {
    const accessCode = fake.addAccessCode();
    const begun = await visitor.identityProvider.authorize({ accessCode });
    const code = fake.signInAtProvider(begun, { subject: "s1", email });
    const { accessToken } = await visitor.identityProvider.callback({ code, state: begun.state });
    expect((await connect(accessToken).account.get()).account).toMatchObject({ email, emailVerified: true });
    await expect(visitor.identityProvider.callback({ code, state: begun.state })).rejects.toMatchObject({
      code: "state_invalid",
    });
    const nonce = "n".repeat(27);
    const zk = await visitor.identityProvider.authorizeZklogin({ nonce });
    const ephemeral = { ephemeralPublicKey: "AA==", maxEpoch: 3, randomness: "1" };
    const answer = await visitor.identityProvider.zkloginAuth({
      ...{ code: fake.signInAtProvider(zk, { subject: "s1", email }), state: zk.state, ...ephemeral },
    });
    const { account } = await connect(answer.accessToken).account.get();
    expect(account).toMatchObject({ chainAddress: answer.chainAddress, chainAddressSource: "zklogin" });
  });

  it("refuses an address of the identity provider that carries another nonce [D3-zklogin-client-refuses]", async () => {
    const swapped = createClient({
      baseUrl: BASE_URL,
      transport: async (request) => {
        const url = request.url.replace(/nonce=\w+/, `nonce=${"m".repeat(27)}`);
        return fake.fetch(new Request(url));
      },
    });
    await expect(swapped.identityProvider.authorizeZklogin({ nonce: "n".repeat(27) })).rejects.toMatchObject({
      code: "contract_broken",
    });
  });
});

describe("a chain address", () => {
  it("is linked by its signature, as one of @mysten/sui's signers makes it", async () => {
    const keypair = Ed25519Keypair.generate();
    const account = await owner.account.linkChain({
      chainAddress: keypair.toSuiAddress(),
      signPersonalMessage: async (bytes) => (await keypair.signPersonalMessage(bytes)).signature,
    });
    expect(account).toMatchObject({ chainAddress: keypair.toSuiAddress(), chainAddressSource: "external" });
  });

  it("is not linked by a signature for another service or chain, nor by somebody else's", async () => {
    const signer = await newSigner();
    const impostor: Signer = { ...signer, chainAddress: (await newSigner()).chainAddress };
    await expect(owner.account.linkChain(impostor)).rejects.toMatchObject({ code: "signature_invalid" });
    const { apiKey } = await visitor.development.signup({ email: "other@example.com" });
    const elsewhere = { baseUrl: BASE_URL, transport, credentials: { apiKey }, network: "testnet" } as const;
    await expect(createClient(elsewhere).account.linkChain(signer)).rejects.toMatchObject({
      code: "signature_invalid",
    });
    await owner.account.linkChain(signer);
    await expect(connect(apiKey).account.linkChain(signer)).rejects.toMatchObject({ code: "address_conflict" });
  });

  it("makes a key an agent's, when it is not the account's own", async () => {
    const [mine, agent] = [await newSigner(), await newSigner()];
    await owner.account.linkChain(mine);
    const own = await owner.apiKeys.create({ name: "own", chainAddress: mine.chainAddress });
    const bound = await owner.apiKeys.create({ name: "agent", signer: agent });
    const levels = [own.key, bound.key].map(async (key) => (await connect(key).account.get()).account.accessLevel);
    expect(await Promise.all(levels)).toEqual(["owner", "agent"]);
    const unproven = owner.apiKeys.create({ name: "x", chainAddress: (await newSigner()).chainAddress });
    await expect(unproven).rejects.toMatchObject({ code: "signature_invalid" });
  });
});

describe("an invite", () => {
  it("gives an agent a key of its own, once, and its secret stays with the clients", async () => {
    const invite = await owner.invites.create({ name: "agent", scopes: ["files:read"] });
    const secret = invite.text.split(".")[1] ?? "";
    expect(invite.text).toMatch(/^cofi_\w{49}\.[\w-]{43}$/);
    const signer = await newSigner();
    const { key, chainAddress } = await visitor.invites.redeem(invite.text, signer);
    expect(chainAddress).toBe(signer.chainAddress);
    const { account, credential } = await connect(key).account.get();
    expect([account.accessLevel, credential.scopes]).toEqual(["agent", ["files:read"]]);
    await expect(visitor.invites.redeem(invite.text, signer)).rejects.toMatchObject({ code: "invite_ended" });
    const { invites } = await owner.invites.list();
    expect(invites).toEqual([expect.objectContaining({ status: "used", chainAddress })]);
    expect(bodies.join("\n")).not.toContain(secret);
    expect(JSON.stringify([...fake.state.invites.values()])).not.toContain(secret);
  });

  it("lets its maker tell an address that the service put in", async () => {
    const { text } = await owner.invites.create({ name: "agent" });
    const { text: foreign } = await owner.invites.create({ name: "other" });
    await visitor.invites.redeem(text, await newSigner());
    const used = (await owner.invites.list()).invites.find(({ status }) => status === "used");
    if (used === undefined) throw new Error("no invite was used");
    expect(await owner.invites.checkAddressProof(text, used)).toBe(true);
    const swapped = { ...used, chainAddress: (await newSigner()).chainAddress };
    expect(await owner.invites.checkAddressProof(text, swapped)).toBe(false);
    expect(await owner.invites.checkAddressProof(foreign, used)).toBe(false);
    expect(await owner.invites.checkAddressProof(text, used, new Uint8Array(32).fill(1))).toBe(false);
    expect(await owner.invites.checkAddressProof(text, { ...used, addressProof: null })).toBe(false);
    const elsewhere = createClient({ baseUrl: "https://elsewhere.test", transport });
    expect(await elsewhere.invites.checkAddressProof(text, used)).toBe(false);
  });

  it("is used by one of many who redeem at once", async () => {
    const { text } = await owner.invites.create({ name: "agent" });
    const signers = await Promise.all(Array.from({ length: 8 }, newSigner));
    const results = await Promise.allSettled(signers.map((signer) => visitor.invites.redeem(text, signer)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("ends with its time, not a millisecond earlier, and when it is revoked", async () => {
    const [first, second, third] = [
      await owner.invites.create({ name: "a" }),
      await owner.invites.create({ name: "b" }),
      await owner.invites.create({ name: "c" }),
    ];
    await owner.invites.revoke(third.id);
    await expect(visitor.invites.redeem(third.text, await newSigner())).rejects.toMatchObject({ status: 410 });
    // The signature's time is the client's; here only the service's clock is moved, within what it tolerates.
    now = Date.parse(first.expiresAt) - 1;
    await expect(visitor.invites.redeem(first.text, await newSigner())).rejects.toMatchObject({ code: "clock_skew" });
    now = Date.parse(second.expiresAt);
    await expect(visitor.invites.redeem(second.text, await newSigner())).rejects.toMatchObject({
      code: "invite_ended",
    });
  });

  it("is not sent when it has a typing error", async () => {
    const { text } = await owner.invites.create({ name: "agent" });
    bodies = [];
    const typo = text.replace(/^cofi_(.)/, (_, first: string) => `cofi_${first === "A" ? "B" : "A"}`);
    for (const wrong of [typo, "", "cofi_", `${text}x`, text.replace(".", ",")])
      await expect(visitor.invites.redeem(wrong, await newSigner())).rejects.toMatchObject({ code: "invalid_request" });
    expect(bodies).toEqual([]);
  });
});

describe("the audit log", () => {
  it("is whole, and names the first entry that was altered", async () => {
    const vault = await owner.vaults.create({ name: "v", type: "public" });
    await owner.vaults.update(vault.id, { name: "w" });
    await owner.invites.create({ name: "agent" });
    const verdict = await owner.audit.verify();
    expect(verdict).toMatchObject({ entries: 6, fault: null });
    const expected = await owner.audit.verify({ expect: verdict.newest ?? undefined });
    expect(expected.fault).toBeNull();
    const altering = createClient({
      ...{ baseUrl: BASE_URL, credentials: () => ({ apiKey: keyOf() }) },
      transport: async (request) => {
        const answer = await fake.fetch(request);
        if (!request.url.includes("audit-log")) return answer;
        return new Response((await answer.text()).replace('"vault.updated"', '"vault.created"'), answer);
      },
    });
    expect((await altering.audit.verify()).fault).toMatchObject({ sequence: 5, kind: "altered" });
    const { events } = await owner.audit.list({ action: "vault" });
    expect(events.map(({ action }) => action)).toEqual(["vault.updated", "vault.created", "vault.created"]);
  });

  const keyOf = (): string => [...fake.state.keys.values()][0]?.text ?? "";
});

describe("a plan", () => {
  it("is paid for after the address is confirmed, and follows what the provider says, once per event", async () => {
    const email = "me@example.com";
    const signedIn = await visitor.auth.signup({ email, password: PASSWORD, accessCode: fake.addAccessCode() });
    const mine = connect(signedIn.accessToken);
    await expect(mine.billing.checkout({ plan: "pro" })).rejects.toMatchObject({ code: "email_unverified" });
    await visitor.auth.verifyEmail(fake.mails.at(-1)?.token ?? "");
    expect((await mine.billing.checkout({ plan: "pro" })).url).toMatch(/^https:/);
    const event = { kind: "subscription.active", accountId: signedIn.user.id, plan: "pro" };
    for (const id of ["e1", "e1"]) expect((await send(id, event)).status).toBe(204);
    expect(await mine.billing.get()).toMatchObject({ plan: "pro", subscription: { status: "active" } });
    expect((await send("e2", event, "v1,AAAA")).status).toBe(400);
  });

  it("that is paid for stays until the provider says that it has ended; one that nobody pays for is left at once", async () => {
    const { user, accessToken } = await visitor.auth.signup({
      ...{ email: "me@example.com", password: PASSWORD, accessCode: fake.addAccessCode() },
    });
    const mine = connect(accessToken);
    await visitor.auth.verifyEmail(fake.mails.at(-1)?.token ?? "");
    await expect(mine.billing.changePlan({ plan: "pro" })).rejects.toMatchObject({ code: "subscription_required" });
    expect(await mine.billing.changePlan({ plan: "free" })).toEqual({ plan: "free", subscription: null });
    const told = (kind: string) => ({ kind: `subscription.${kind}`, accountId: user.id, plan: "pro" });
    await send("e1", told("active"));
    const ending = { plan: "pro", subscription: { plan: "pro", status: "ending" } };
    expect(await mine.billing.changePlan({ plan: "free" })).toMatchObject(ending);
    expect(await mine.billing.changePlan({ plan: "pro" })).toMatchObject({ subscription: { status: "active" } });
    expect(await mine.billing.changePlan({ plan: "free" })).toMatchObject(ending);
    now += 1000;
    await send("e2", told("ended"));
    expect(await mine.billing.get()).toMatchObject({ plan: "free", subscription: { status: "ended" } });
    const late = { ...told("active"), occurredAt: new Date(now - 500).toISOString() };
    await send("e3", late);
    expect(await mine.billing.get()).toMatchObject({ plan: "free", subscription: { status: "ended" } });
    const { events } = await mine.audit.list({ action: "account" });
    expect(events.slice(0, 3).map(({ action, targets }) => [action, targets[0]?.id])).toEqual([
      ["account.plan_changed", "free"],
      ["account.plan_change_requested", "free"],
      ["account.plan_change_requested", "pro"],
    ]);
    await expect(mine.billing.checkout({ plan: "free" })).rejects.toMatchObject({ code: "plan_unchanged" });
    await send("e4", { ...told("active"), reference: "another" });
    await expect(mine.billing.checkout({ plan: "free" })).rejects.toMatchObject({ code: "validation_failed" });
    await send("e5", told("ended"));
    expect(await mine.billing.get()).toMatchObject({ plan: "pro", subscription: { status: "active" } });
  });

  function send(id: string, event: object, signature?: string): Promise<Response> {
    const body = new TextEncoder().encode(JSON.stringify(event));
    const time = String(Math.floor(now / 1000));
    const headers = {
      ...{ "content-type": "application/json", "webhook-id": id, "webhook-timestamp": time },
      "webhook-signature": signature ?? signPayment(id, time, body),
    };
    return fake.fetch(new Request(`${BASE_URL}/api/billing/events`, { method: "POST", headers, body }));
  }
});
