/** What the client suite (test/suites) cannot ask of every service: sign-in at a provider, lies on the wire, what was sent. */
import { beforeEach, describe, expect, it } from "vitest";
import { chainKeySigner, generateChainKey } from "./chain/chain-key.ts";
import type { Signer } from "./chain/signer.ts";
import { createClient, type Client } from "./client.ts";
import { createFake, type Fake } from "./testing/index.ts";

const BASE_URL = "https://coffer.test";

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
    const nonce = "n".repeat(27);
    const other = "m".repeat(27);
    const changes: Record<string, (url: string) => string> = {
      "another one": (url) => url.replace(nonce, other),
      none: (url) => url.replace("nonce=", "once="),
      "two, its own first": (url) => `${url}&nonce=${other}`,
      "two, its own last": (url) => url.replace("?", `?nonce=${other}&`),
      "two, one of them encoded": (url) => `${url}&%6eonce=${other}`,
      "its own, twice": (url) => `${url}&nonce=${nonce}`,
      // OpenID Connect Core §6: what a request object says counts in the place of the query.
      "its own, and a request object": (url) => `${url}&request=eyJhbGciOiJub25lIn0.e30.`,
      "its own, and the address of a request object": (url) => `${url}&request_uri=https://elsewhere.test/o`,
    };
    const swapping = (change: (url: string) => string) =>
      createClient({
        baseUrl: BASE_URL,
        transport: async (request) => {
          const answer = await fake.fetch(request);
          const { url, state } = (await answer.json()) as { url: string; state: string };
          return Response.json({ url: change(url), state });
        },
      }).identityProvider.authorizeZklogin({ nonce });
    expect((await swapping((url) => url)).url).toContain(`nonce=${nonce}`);
    for (const [what, change] of Object.entries(changes))
      await expect(swapping(change), what).rejects.toMatchObject({ code: "contract_broken" });
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
