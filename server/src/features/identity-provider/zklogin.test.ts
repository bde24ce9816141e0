import { computeZkLoginAddress } from "@mysten/sui/zklogin";
import { describe, expect, it, vi } from "vitest";
import { suiZklogin } from "../../drivers/zklogin/sui.ts";
import type { Prover } from "../../ports/zklogin.ts";
import { actionsOf, addAccessCode, countRows, outcomeOf } from "../auth/accounts.test-kit.ts";
import {
  ADA,
  auth,
  callBack,
  comeBack,
  comeBackWithKey,
  makeEphemeral,
  openSignInApp,
  readAccount,
  signIn,
  type SignInApp,
  stepOne,
} from "./sign-ins.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const app = ofEachTest(openSignInApp);

const OTHER_ADDRESS = `0x${"ab".repeat(32)}`;

describe("GET /api/auth/idp/zklogin", () => {
  it("sends the client's own nonce to the provider [S4.2-idp-zklogin D3-zklogin-nonce]", async () => {
    const { nonce } = makeEphemeral();
    const { body } = await app.service.ask("GET", `/api/auth/idp/zklogin?nonce=${nonce}`);
    expect(new URL(String(body["url"])).searchParams.get("nonce")).toBe(nonce);
    for (const bad of ["?nonce=", "?nonce=short", `?nonce=${nonce}x`]) {
      expect((await app.service.ask("GET", `/api/auth/idp/zklogin${bad}`)).status).toBe(400);
    }
  });

  it("needs nothing: the client adds its nonce to the address, and ends with its key in one request [S4.2-idp-zklogin-no-request]", async () => {
    const { nonce, values } = makeEphemeral();
    const begin = async () =>
      (await app.service.ask("GET", "/api/auth/idp/zklogin")).body as { url: string; state: string };
    const { url, state } = await begin();
    expect(new URL(url).searchParams.has("nonce")).toBe(false);
    expect(new URL(url).searchParams.get("state")).toBe(state);
    const accessCode = await addAccessCode(app.service);
    const first = await app.service.ask("GET", `/api/auth/idp/zklogin?accessCode=${accessCode}`);
    const returned = await app.local.signIn(`${String(first.body["url"])}&nonce=${nonce}`, ADA);
    expect((await auth(app, { ...returned, ...values })).status).toBe(200);
    // Nobody gets in with a token that was made for another key, or for none.
    const other = makeEphemeral();
    const stolen = await app.local.signIn(`${(await begin()).url}&nonce=${nonce}`, ADA);
    expect(outcomeOf(await auth(app, { ...stolen, ...other.values }))).toBe("400 provider_refused");
    const bare = await app.local.signIn((await begin()).url, ADA);
    expect(outcomeOf(await auth(app, { ...bare, ...values }))).toBe("400 provider_refused");
    // What the service was never told it cannot compare: step one alone, and the flow without zkLogin, need it.
    const half = await app.local.signIn(`${(await begin()).url}&nonce=${nonce}`, ADA);
    expect(outcomeOf(await stepOne(app, half))).toBe("400 state_invalid");
    expect(await countRows(app.service, "sessions")).toBe(1);
  });
});

describe("POST /api/auth/idp/zklogin-auth, combined", () => {
  it("opens a session, derives the address and links it as zklogin [S4.2-zklogin-auth S5.5-zklogin-address]", async () => {
    const { service } = app;
    const { status, body } = await signIn(app);
    expect(status).toBe(200);
    const address = computeZkLoginAddress({
      claimName: "sub",
      claimValue: ADA.sub,
      iss: app.local.issuer,
      aud: app.local.clientId,
      userSalt: BigInt(String(body["salt"])),
      legacyAddress: false,
    });
    expect(Object.keys(body).sort()).toEqual(
      ["accessToken", "chainAddress", "expiresIn", "proof", "refreshExpiresIn", "refreshToken", "salt"].sort(),
    );
    expect(body["chainAddress"]).toBe(address);
    expect(BigInt(String(body["salt"]))).toBeLessThan(1n << 128n);
    const key = String(body["accessToken"]);
    const { account } = (await service.ask("GET", "/api/account", { key })).body as { account: { id: string } };
    expect(account).toMatchObject({ chainAddress: address, chainAddressSource: "zklogin", email: ADA.email });
    const { sessions } = (await service.ask("GET", "/api/auth/sessions", { key })).body;
    expect(sessions).toEqual([expect.objectContaining({ method: "zklogin" })]);
    expect(await actionsOf(app.service, account.id)).toEqual([
      ...["account.created", "vault.created", "account.chain_linked", "session.created"],
    ]);
  });

  it("answers a proof that the prover accepts for this very token and key", async () => {
    const { returned, values } = await comeBackWithKey(app);
    const { body } = await auth(app, { ...returned, ...values });
    expect(body["proof"]).toMatchObject({ proofPoints: { a: ["coffer development prover 1"] } });
    const seed = await suiZklogin.addressSeedOf({
      issuer: app.local.issuer,
      audience: app.local.clientId,
      subject: ADA.sub,
      salt: String(body["salt"]),
    });
    expect(body["proof"]).toMatchObject({ addressSeed: seed });
  });

  it.each(["ephemeralPublicKey", "maxEpoch", "randomness"] as const)(
    "refuses another %s than the nonce is made of, before the provider is asked",
    async (name) => {
      const { returned, values } = await comeBackWithKey(app);
      const other = { ...makeEphemeral().values, maxEpoch: 8 };
      const answer = await auth(app, { ...returned, ...values, [name]: other[name] });
      expect(outcomeOf(answer)).toBe("400 proof_invalid");
      expect(app.local.requests.get("/token")).toBeUndefined();
      expect(await countRows(app.service, "accounts")).toBe(0);
    },
  );

  it("refuses what is no ephemeral key", async () => {
    const { returned, values } = await comeBackWithKey(app);
    const bad = [
      { ephemeralPublicKey: Buffer.from([5, ...Buffer.alloc(32)]).toString("base64") },
      { ephemeralPublicKey: Buffer.alloc(32).toString("base64") },
      { randomness: "9".repeat(78) },
    ];
    for (const values2 of bad) {
      expect(outcomeOf(await auth(app, { ...returned, ...values, ...values2 }))).toBe("400 proof_invalid");
    }
    expect(outcomeOf(await auth(app, { ...returned, ...values, randomness: "0x1" }))).toBe("400 validation_failed");
  });

  it("takes no state of the plain flow, and the plain flow none of its own", async () => {
    const plain = await comeBack(app);
    expect(outcomeOf(await auth(app, { ...plain, ...makeEphemeral().values }))).toBe("400 state_invalid");
    expect(outcomeOf(await stepOne(app, plain))).toBe("400 state_invalid");
    const { returned } = await comeBackWithKey(app);
    const answer = await app.service.ask("POST", "/api/auth/idp/callback", { json: returned });
    expect(outcomeOf(answer)).toBe("400 state_invalid");
    // Each is still good where it belongs.
    expect((await app.service.ask("POST", "/api/auth/idp/callback", { json: plain })).status).toBe(200);
  });

  it("uses a state once, also for 20 at a time", async () => {
    const { returned, values } = await comeBackWithKey(app);
    const answers = await Promise.all(Array.from({ length: 20 }, () => auth(app, { ...returned, ...values })));
    expect(answers.map(outcomeOf).sort()).toEqual(["200", ...Array.from({ length: 19 }, () => "400 state_invalid")]);
    expect(await countRows(app.service, "sessions")).toBe(1);
  });

  it("refuses claims that zkLogin cannot take, before there is an account", async () => {
    const answer = await signIn(app, { user: { ...ADA, sub: "s".repeat(116) } });
    expect(outcomeOf(answer)).toBe("400 provider_refused");
    expect(answer.body["error"]).toMatch(/zkLogin/);
    expect(await countRows(app.service, "accounts")).toBe(0);
  });
});

describe("the salt", () => {
  it("is the user's for ever, and encrypted at rest", async () => {
    const first = await signIn(app);
    const salt = String(first.body["salt"]);
    const second = await signIn(app, { accessCode: null });
    expect(second.body["salt"]).toBe(salt);
    expect(second.body["chainAddress"]).toBe(first.body["chainAddress"]);
    const row = await readAccount(app);
    expect(JSON.stringify(row)).not.toContain(salt);
    const { atRest } = app.service.deps;
    expect(atRest.reveal(row?.zklogin_salt ?? "", "zklogin-salt", row?.id ?? "")).toBe(salt);
    expect(() => atRest.reveal(row?.zklogin_salt ?? "", "zklogin-salt", "another")).toThrow();
  });

  it("is another for another user, also behind one provider", async () => {
    const ada = await signIn(app);
    const bob = await signIn(app, { user: { sub: "bob", email: "bob@example.test" } });
    expect(bob.body["salt"]).not.toBe(ada.body["salt"]);
    expect(bob.body["chainAddress"]).not.toBe(ada.body["chainAddress"]);
  });

  it("is one for parallel first sign-ins", async () => {
    const returned = [];
    for (let index = 0; index < 5; index += 1) returned.push(await comeBackWithKey(app));
    const answers = await Promise.all(returned.map((each) => auth(app, { ...each.returned, ...each.values })));
    expect(answers.map(({ status }) => status)).toEqual(returned.map(() => 200));
    expect(new Set(answers.map(({ body }) => body["salt"])).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body["chainAddress"])).size).toBe(1);
    expect(await countRows(app.service, "accounts")).toBe(1);
  });

  it("is made for a user who signed in without zkLogin before", async () => {
    await callBack(app);
    expect((await readAccount(app))?.zklogin_salt).toBeNull();
    const { body } = await signIn(app, { accessCode: null });
    expect(await readAccount(app)).toMatchObject({ chain_address: body["chainAddress"] });
  });
});

describe("an address that is in the way", () => {
  it("stays when it is the account's own, linked elsewhere; nothing is opened and nothing proven", async () => {
    const prove = vi.fn<Prover["prove"]>().mockRejectedValue(new Error("not to be asked"));
    const prover = { capabilities: { checks: false }, prove, check: () => Promise.resolve(true) };
    await using app = await openSignInApp(() => ({ prover }));
    await callBack(app);
    await setAddress(app, ADA.email ?? "", OTHER_ADDRESS);
    const before = await countRows(app.service, "sessions");
    expect(outcomeOf(await signIn(app, { accessCode: null }))).toBe("409 address_conflict");
    const { returned, values } = await comeBackWithKey(app, { accessCode: null });
    const { body } = await stepOne(app, returned);
    expect(outcomeOf(await auth(app, { idToken: body["idToken"], ...values }))).toBe("409 address_conflict");
    expect(prove).not.toHaveBeenCalled();
    expect(await countRows(app.service, "sessions")).toBe(before);
    expect(await readAccount(app)).toMatchObject({ chain_address: OTHER_ADDRESS, chain_address_source: "external" });
  });

  it("stays with another account", async () => {
    await callBack(app, { user: { sub: "bob", email: "bob@example.test" } });
    const { returned, values } = await comeBackWithKey(app);
    const { body } = await stepOne(app, returned);
    await setAddress(app, "bob@example.test", String(body["chainAddress"]));
    expect(outcomeOf(await auth(app, { idToken: body["idToken"], ...values }))).toBe("409 address_conflict");
    expect(await readAccount(app)).toMatchObject({ chain_address: null });
  });

  it("stays with a live key", async () => {
    const agent = await app.service.signUp();
    const { returned, values } = await comeBackWithKey(app);
    const { body } = await stepOne(app, returned);
    const { database } = app.service.deps;
    const bound = { chain_address: String(body["chainAddress"]) };
    await database.run(database.build.updateTable("api_keys").set(bound).where("account_id", "=", agent.id));
    expect(outcomeOf(await auth(app, { idToken: body["idToken"], ...values }))).toBe("409 address_conflict");
    expect(await countRows(app.service, "sessions")).toBe(0);
  });

  it("is kept when it is the same, with its source", async () => {
    const first = await signIn(app);
    await setAddress(app, ADA.email ?? "", String(first.body["chainAddress"]));
    expect((await signIn(app, { accessCode: null })).status).toBe(200);
    expect(await readAccount(app)).toMatchObject({ chain_address_source: "external" });
  });
});

async function setAddress({ service }: SignInApp, email: string, address: string): Promise<void> {
  const { database } = service.deps;
  const linked = { chain_address: address, chain_address_source: "external" };
  await database.run(database.build.updateTable("accounts").set(linked).where("email", "=", email));
}
