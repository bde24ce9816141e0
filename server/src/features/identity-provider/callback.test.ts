import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openTestApp } from "../../app.test-kit.ts";
import { actionsOf, addAccessCode, countRows, outcomeOf, signUpWithPassword } from "../auth/accounts.test-kit.ts";
import { openAccount } from "../account/opening.ts";
import {
  ADA,
  callBack,
  comeBack,
  makeEphemeral,
  openSignInApp,
  readAccount,
  type SignInApp,
} from "./sign-ins.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const app = ofEachTest(openSignInApp);

const MINUTE = 60_000;

it("a new user needs no access code where the operator switched them off [D3-access-codes-off]", async () => {
  await using app = await openSignInApp(({ settings }) => ({ settings: { ...settings, accessCodesRequired: false } }));
  expect((await callBack(app, { accessCode: null })).status).toBe(200);
  expect(await countRows(app.service, "accounts")).toBe(1);
});

describe("GET /api/auth/idp", () => {
  it("answers the provider's URL with state, nonce and S256, and keeps no secret in the clear [S4.2-idp D3-idp-url D0-idp-paths]", async () => {
    const { service, local } = app;
    const accessCode = await addAccessCode(service);
    const { status, body } = await service.ask("GET", `/api/auth/idp?accessCode=${accessCode}`);
    expect(status).toBe(200);
    const url = new URL(String(body["url"]));
    const { state = "", nonce = "", ...rest } = Object.fromEntries(url.searchParams);
    expect(url.origin).toBe(local.issuer);
    expect(rest).toMatchObject({ response_type: "code", code_challenge_method: "S256", scope: "openid email profile" });
    expect(state).toBe(body["state"]);
    for (const text of [state, nonce]) expect(Buffer.from(text, "base64url")).toHaveLength(32);
    const rows = await service.deps.database.all(service.deps.database.build.selectFrom("sign_ins").selectAll());
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      flow: "idp",
      state_hash: hash("sha256", state, "hex"),
      expires_at: app.clock.now() + 10 * MINUTE,
    });
    const kept = JSON.stringify(rows);
    expect(kept).not.toContain(state);
    expect(kept).not.toContain(nonce);
    expect(kept).not.toContain(accessCode);
    const verifier = service.deps.atRest.reveal(
      rows[0]?.code_verifier ?? "",
      "sign-in-verifier",
      hash("sha256", state, "hex"),
    );
    expect(hash("sha256", verifier, "base64url")).toBe(rest["code_challenge"]);
    expect(kept).not.toContain(verifier);
  });

  it("is not configured without a provider, and neither are the others", async () => {
    await using service = await openTestApp();
    const { values, nonce } = makeEphemeral();
    const code = { code: "c", state: "s" };
    const answers = [
      await service.ask("GET", "/api/auth/idp"),
      await service.ask("GET", `/api/auth/idp/zklogin?nonce=${nonce}`),
      await service.ask("POST", "/api/auth/idp/callback", { json: code }),
      await service.ask("POST", "/api/auth/idp/zklogin-token", { json: code }),
      await service.ask("POST", "/idp/zklogin-token", { json: code }),
      await service.ask("POST", "/api/auth/idp/zklogin-auth", { json: { ...code, ...values } }),
      await service.ask("POST", "/idp/zklogin-auth", { json: { idToken: "t", ...values } }),
    ];
    for (const answer of answers) expect(outcomeOf(answer)).toBe("501 not_configured");
  });

  it("says that the provider is unavailable, and keeps nothing", async () => {
    app.local.override = (_path, response) => {
      response.writeHead(500).end();
      return true;
    };
    expect(outcomeOf(await app.service.ask("GET", "/api/auth/idp"))).toBe("503 provider_unavailable");
    expect(await countRows(app.service, "sign_ins")).toBe(0);
  });

  it("needs nothing, and leads back to the web application's address [S4.2-idp-no-request]", async () => {
    await using service = await openTestApp({
      environment: {
        SERVICE_IDP_ISSUER: app.local.issuer,
        SERVICE_IDP_CLIENT_ID: app.local.clientId,
        SERVICE_APP_URL: "https://app.example/coffer/",
      },
    });
    const { body } = await service.ask("GET", "/api/auth/idp");
    expect(new URL(String(body["url"])).searchParams.get("redirect_uri")).toBe(
      "https://app.example/coffer/auth/callback",
    );
  });
});

describe("POST /api/auth/idp/callback", () => {
  it("creates the user with an access code, and opens a session; no chain keypair is derived [S4.2-idp-callback D3-idp-callback]", async () => {
    const { service } = app;
    const { status, body } = await callBack(app);
    expect(status).toBe(200);
    expect(body).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
      refreshExpiresIn: 30 * 86_400,
    });
    const key = String(body["accessToken"]);
    const account = (await service.ask("GET", "/api/account", { key })).body["account"] as { id: string };
    expect(account).toMatchObject({
      email: ADA.email,
      emailVerified: true,
      name: "Ada",
      plan: "free",
      accessLevel: "owner",
      chainAddress: null,
      chainAddressSource: null,
    });
    const { sessions } = (await service.ask("GET", "/api/auth/sessions", { key })).body;
    expect(sessions).toEqual([expect.objectContaining({ method: "idp", current: true })]);
    expect(await readAccount(app)).toMatchObject({
      idp_id: ADA.sub,
      idp_issuer: app.local.issuer,
      password_hash: null,
      zklogin_salt: null,
    });
    expect(await actionsOf(app.service, account.id)).toEqual(["account.created", "vault.created", "session.created"]);
  });

  it("finds the user again without an access code, whatever became of the e-mail there", async () => {
    await callBack(app);
    const again = await callBack(app, { user: { ...ADA, email: "moved@example.test", name: "A." }, accessCode: null });
    expect(again.status).toBe(200);
    expect(await countRows(app.service, "accounts")).toBe(1);
    expect(await readAccount(app)).toMatchObject({ email: ADA.email, name: "Ada" });
  });

  it("needs a live access code for a new user, before any row [D3-idp-access-code]", async () => {
    const { service, clock } = app;
    const used = await addAccessCode(service, { uses: 0 });
    const expired = await addAccessCode(service, { expiresAt: clock.now() });
    const revoked = await addAccessCode(service, { revokedAt: clock.now() });
    for (const accessCode of [null, "0000-0000-0000-0000-0000", used, expired, revoked]) {
      expect(outcomeOf(await callBack(app, { accessCode }))).toBe("403 access_code_invalid");
    }
    expect(await countRows(app.service, "accounts")).toBe(0);
    expect(await countRows(app.service, "sessions")).toBe(0);
    expect(await countRows(app.service, "sign_ins")).toBe(0);
  });

  it("uses a code up with the account, and not with a refusal", async () => {
    const accessCode = await addAccessCode(app.service);
    const refused = await callBack(app, { user: { sub: "nobody" }, accessCode });
    expect(outcomeOf(refused)).toBe("400 provider_refused");
    expect((await callBack(app, { accessCode })).status).toBe(200);
    const other = { sub: "bob", email: "bob@example.test" };
    expect(outcomeOf(await callBack(app, { user: other, accessCode }))).toBe("403 access_code_invalid");
    expect(await countRows(app.service, "accounts")).toBe(1);
  });

  it("makes an unverified account of an unverified e-mail, and asks for the verification mail", async () => {
    await callBack(app, { user: { ...ADA, emailVerified: false } });
    expect(await readAccount(app)).toMatchObject({ email_verified: 0 });
    const { database } = app.service.deps;
    const requests = await database.all(database.build.selectFrom("mail_requests").select(["purpose", "email"]));
    expect(requests).toEqual([{ purpose: "verify", email: ADA.email }]);
  });

  it.each([{ sub: "x" }, { sub: "x", email: "not an address" }])("refuses a new user like %j", async (user) => {
    const answer = await callBack(app, { user });
    expect(outcomeOf(answer)).toBe("400 provider_refused");
    expect(answer.body["error"]).toMatch(/e-mail/);
    expect(await countRows(app.service, "accounts")).toBe(0);
  });
});

describe("an e-mail that has an account", () => {
  it("becomes the identity's when both sides have verified it", async () => {
    const { id } = await haveAccount(app, { verified: true });
    expect((await callBack(app, { accessCode: null, user: { ...ADA, email: "Ada@Example.test" } })).status).toBe(200);
    expect(await readAccount(app)).toMatchObject({ id, idp_id: ADA.sub, idp_issuer: app.local.issuer });
    expect(await actionsOf(app.service, id)).toContain("account.identity_linked");
    expect((await callBack(app, { accessCode: null })).status).toBe(200);
    expect(await countRows(app.service, "accounts")).toBe(1);
  });

  it("stays with its account when that has not verified it: who registered it may not be who signs in", async () => {
    await haveAccount(app, { verified: false });
    for (const accessCode of ["new", null]) {
      expect(outcomeOf(await callBack(app, { accessCode }))).toBe("409 email_exists");
    }
    expect(await readAccount(app)).toMatchObject({ idp_id: null });
    expect(await countRows(app.service, "sessions")).toBe(0);
  });

  it("stays with its account when the provider has not verified it, and is told only to who holds a code", async () => {
    await haveAccount(app, { verified: true });
    const user = { ...ADA, emailVerified: false };
    const accessCode = await addAccessCode(app.service);
    expect(outcomeOf(await callBack(app, { user, accessCode }))).toBe("409 email_exists");
    expect(outcomeOf(await callBack(app, { user, accessCode: null }))).toBe("403 access_code_invalid");
    expect(await readAccount(app)).toMatchObject({ idp_id: null });
    // The refused sign-up did not use the code up.
    const other = { sub: "bob", email: "bob@example.test" };
    expect((await callBack(app, { user: other, accessCode })).status).toBe(200);
  });

  it("stays with the identity that it has", async () => {
    await callBack(app);
    expect(outcomeOf(await callBack(app, { user: { ...ADA, sub: "somebody-else" } }))).toBe("409 email_exists");
    expect(await readAccount(app)).toMatchObject({ idp_id: ADA.sub });
  });

  it("is not the user of another provider who has the same subject there", async () => {
    await callBack(app);
    const { database } = app.service.deps;
    await database.run(database.build.updateTable("accounts").set({ idp_issuer: "https://former.example" }));
    expect(outcomeOf(await callBack(app))).toBe("409 email_exists");
    expect(await countRows(app.service, "sessions")).toBe(1);
    const namesake = { ...ADA, email: "another@example.test" };
    expect(outcomeOf(await callBack(app, { user: namesake }))).toBe("200");
    expect((await readAccount(app, namesake.email))?.id).not.toBe((await readAccount(app))?.id);
  });

  it("keeps its password, which signs in as before", async () => {
    const { email } = await signUpWithPassword(app.service);
    await verify(app, email);
    expect((await callBack(app, { user: { ...ADA, email }, accessCode: null })).status).toBe(200);
    expect((await readAccount(app, email))?.password_hash).toMatch(/^\$argon2id\$/);
  });
});

describe("a state", () => {
  it("is good once, also for 50 at a time", async () => {
    const json = await comeBack(app);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => app.service.ask("POST", "/api/auth/idp/callback", { json })),
    );
    const outcomes = answers.map(outcomeOf).sort();
    expect(outcomes).toEqual(["200", ...Array.from({ length: 49 }, () => "400 state_invalid")]);
    expect(await countRows(app.service, "sessions")).toBe(1);
    expect(app.local.requests.get("/token")).toBe(1);
  });

  it("is used up by a code that the provider refuses", async () => {
    const json = await comeBack(app);
    const wrong = await app.service.ask("POST", "/api/auth/idp/callback", { json: { ...json, code: "invented" } });
    expect(outcomeOf(wrong)).toBe("400 provider_refused");
    expect(outcomeOf(await app.service.ask("POST", "/api/auth/idp/callback", { json }))).toBe("400 state_invalid");
    expect(await countRows(app.service, "accounts")).toBe(0);
  });

  it("does not exchange another sign-in's code: each has its own verifier and nonce", async () => {
    const mine = await comeBack(app);
    const theirs = await comeBack(app, { user: { sub: "victim", email: "victim@example.test" } });
    const json = { code: theirs.code, state: mine.state };
    expect(outcomeOf(await app.service.ask("POST", "/api/auth/idp/callback", { json }))).toBe("400 provider_refused");
    expect(await countRows(app.service, "accounts")).toBe(0);
  });

  it.each([
    [10 * MINUTE - 1, "200"],
    [10 * MINUTE, "400 state_invalid"],
    [10 * MINUTE + 1, "400 state_invalid"],
  ])("after %i ms answers %s", async (age, outcome) => {
    const json = await comeBack(app);
    app.clock.advance(age);
    expect(outcomeOf(await app.service.ask("POST", "/api/auth/idp/callback", { json }))).toBe(outcome);
  });

  it("that was refused for its age stays refused when the clock is set back", async () => {
    const json = await comeBack(app);
    app.clock.advance(10 * MINUTE);
    const ask = () => app.service.ask("POST", "/api/auth/idp/callback", { json });
    expect(outcomeOf(await ask())).toBe("400 state_invalid");
    app.clock.advance(-1);
    expect(outcomeOf(await ask())).toBe("400 state_invalid");
  });

  it("that was used stays used when the clock is set back", async () => {
    const json = await comeBack(app);
    expect((await app.service.ask("POST", "/api/auth/idp/callback", { json })).status).toBe(200);
    app.clock.advance(-60 * MINUTE);
    expect(outcomeOf(await app.service.ask("POST", "/api/auth/idp/callback", { json }))).toBe("400 state_invalid");
  });

  it("of nobody is refused before the provider is asked", async () => {
    const json = { code: "any", state: "invented" };
    expect(outcomeOf(await app.service.ask("POST", "/api/auth/idp/callback", { json }))).toBe("400 state_invalid");
    expect(app.local.requests.size).toBe(0);
  });
});

describe("around a sign-in", () => {
  it("several first ones of one person at a time make one account", async () => {
    const returned = [];
    for (let index = 0; index < 6; index += 1) returned.push(await comeBack(app));
    const answers = await Promise.all(
      returned.map((json) => app.service.ask("POST", "/api/auth/idp/callback", { json })),
    );
    expect(answers.map(({ status }) => status)).toEqual(returned.map(() => 200));
    expect(await countRows(app.service, "accounts")).toBe(1);
    expect(await countRows(app.service, "sessions")).toBe(6);
  });

  it("X-Dev-Idp-Id acts as the user with that identity [S5.6-idp-id]", async () => {
    await app.service.signUp();
    await callBack(app);
    const headers = { "x-dev-idp-id": ADA.sub, host: "127.0.0.1" };
    const { body } = await app.service.ask("GET", "/api/account", { headers });
    expect(body["account"]).toMatchObject({ email: ADA.email });
    const unknown = await app.service.ask("GET", "/api/account", { headers: { ...headers, "x-dev-idp-id": "nobody" } });
    expect(unknown.status).toBe(401);
  });

  it("a provider that fails at the exchange leaves nothing, and says so", async () => {
    const json = await comeBack(app);
    app.local.override = (path, response) => {
      if (path !== "/token") return false;
      response.writeHead(503).end();
      return true;
    };
    const answer = await app.service.ask("POST", "/api/auth/idp/callback", { json });
    expect(outcomeOf(answer)).toBe("503 provider_unavailable");
    expect(answer.body["error"]).toMatch(/begin the sign-in again/);
    expect(await countRows(app.service, "accounts")).toBe(0);
  });
});

/** An account with the visitor's e-mail, as somebody made it before. */
async function haveAccount({ service }: SignInApp, { verified }: { verified: boolean }) {
  const { deps } = service;
  const wanted = { email: ADA.email ?? "", emailVerified: verified, name: null, plan: "free" } as const;
  return deps.database.transaction((transaction) =>
    openAccount(deps, transaction, wanted, (act) => Promise.resolve(act.account)),
  );
}

async function verify({ service }: SignInApp, email: string): Promise<void> {
  const { database } = service.deps;
  await database.run(database.build.updateTable("accounts").set({ email_verified: 1 }).where("email", "=", email));
}
