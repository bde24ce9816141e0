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

  it("refuses an address of the identity provider that carries another nonce [D3-zklogin-client-refuses Z7]", async () => {
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
  it("is redeemed without its secret, which stays with the clients", async () => {
    const { text } = await owner.invites.create({ name: "agent" });
    expect(text).toMatch(/^cofi_\w{49}\.[\w-]{43}$/);
    await visitor.invites.redeem(text, await newSigner());
    const secret = text.split(".")[1] ?? "";
    expect(bodies.join("\n")).not.toContain(secret);
    expect(JSON.stringify([...fake.state.invites.values()])).not.toContain(secret);
  });

  it("proves no address for another key or service, and none without a proof", async () => {
    const { text } = await owner.invites.create({ name: "agent" });
    await visitor.invites.redeem(text, await newSigner());
    const [used] = (await owner.invites.list()).invites;
    if (used === undefined) throw new Error("no invite was used");
    expect(await owner.invites.checkAddressProof(text, used, new Uint8Array(32).fill(1))).toBe(false);
    expect(await owner.invites.checkAddressProof(text, { ...used, addressProof: null })).toBe(false);
    const elsewhere = createClient({ baseUrl: "https://elsewhere.test", transport });
    expect(await elsewhere.invites.checkAddressProof(text, used)).toBe(false);
  });

  it("ends with its time, not a millisecond earlier", async () => {
    const [first, second] = [await owner.invites.create({ name: "a" }), await owner.invites.create({ name: "b" })];
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
