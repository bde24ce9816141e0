/** What every driver of the identity-provider port must do, against a real provider and against one that misbehaves. */
import { createHash, randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { IdentityProvider } from "@coffer/server/ports/identity-provider";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ManualClock } from "../kit/clock.ts";
import { type LocalProvider, openLocalProvider, type ProviderUser } from "../kit/identity-provider.ts";
import { answerTokens, hangUp, json, redirect, status, tokens, unsigned } from "./identity-provider-answers.ts";

export interface ProviderAddress {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly clock: ManualClock;
  /** Of one request to the provider, in milliseconds. */
  readonly timeout: number;
}

export type OpenIdentityProvider = (address: ProviderAddress) => IdentityProvider;

const ADA: ProviderUser = { sub: "ada-1815", email: "ada@example.test", emailVerified: true, name: "Ada" };
/** Milliseconds: more than a busy machine takes, and what a provider that hangs is worth waiting for. */
const PATIENT = 30_000;
const IMPATIENT = 400;

export function describeIdentityProvider(name: string, open: OpenIdentityProvider): void {
  describe(`identity provider: ${name}`, () => {
    let local: LocalProvider;
    beforeAll(async () => {
      local = await openLocalProvider();
    });
    afterAll(() => local[Symbol.asyncDispose]());
    afterEach(() => {
      local.override = null;
    });
    const opened: Opened = (clock = realTime(), timeout = PATIENT) => ({
      clock,
      driver: open({ ...local, clock, timeout }),
    });

    describeFlow(open, () => local);
    describeRefusals(() => local, opened);
    describeVerification(() => local, opened);
    describeFaults(() => local, opened);
  });
}

/** The provider lives in real time, so a driver's clock begins there. */
function realTime(): ManualClock {
  return new ManualClock(Date.now());
}

type Opened = (clock?: ManualClock, timeout?: number) => { driver: IdentityProvider; clock: ManualClock };
type Local = () => LocalProvider;

/** A started sign-in, as the feature keeps it. */
function start() {
  const codeVerifier = randomBytes(32).toString("base64url");
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
  const nonce = randomBytes(16).toString("base64url");
  const state = randomBytes(16).toString("base64url");
  return { request: { state, nonce, codeChallenge }, codeVerifier, nonce, state };
}

async function signIn(driver: IdentityProvider, local: LocalProvider, user = ADA) {
  const begun = start();
  const { code, state } = await local.signIn(await driver.authorizationUrl(begun.request), user);
  return { ...begun, code, returnedState: state };
}

function describeFlow(open: OpenIdentityProvider, local: Local): void {
  describe("the whole flow", () => {
    const opened = (provider: LocalProvider) => open({ ...provider, clock: realTime(), timeout: PATIENT });

    it("asks for a code with state, nonce, S256 and the three scopes", async () => {
      const { request } = start();
      const url = new URL(await opened(local()).authorizationUrl(request));
      expect(url.origin).toBe(local().issuer);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        client_id: local().clientId,
        redirect_uri: local().redirectUri,
        response_type: "code",
        scope: "openid email profile",
        state: request.state,
        nonce: request.nonce,
        code_challenge: request.codeChallenge,
        code_challenge_method: "S256",
      });
    });

    it("exchanges the code for a verified identity, its profile from user info", async () => {
      const driver = opened(local());
      const signed = await signIn(driver, local());
      expect(signed.returnedState).toBe(signed.state);
      const identity = await driver.exchange(signed);
      expect(identity).toEqual({
        issuer: local().issuer,
        audience: local().clientId,
        subject: ADA.sub,
        email: ADA.email,
        emailVerified: true,
        name: "Ada",
        nonce: signed.nonce,
        idToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      });
      expect(await driver.verify(identity.idToken)).toMatchObject({ subject: ADA.sub, nonce: signed.nonce });
    });

    it("takes the profile from the ID token where it has it, and a public client needs no secret", async () => {
      await using provider = await openLocalProvider({ claimsInIdToken: true, clientSecret: null });
      const driver = opened(provider);
      const identity = await driver.exchange(await signIn(driver, provider, { ...ADA, emailVerified: false }));
      expect(identity).toMatchObject({ email: ADA.email, emailVerified: false, name: "Ada" });
      expect(provider.requests.get("/me")).toBeUndefined();
    });

    it("knows of no e-mail where the provider has none", async () => {
      const driver = opened(local());
      const identity = await driver.exchange(await signIn(driver, local(), { sub: "without-mail" }));
      expect(identity).toMatchObject({ subject: "without-mail", email: null, emailVerified: false, name: null });
    });

    it("reads the provider's document once, also for many at a time", async () => {
      await using provider = await openLocalProvider();
      const driver = opened(provider);
      expect(provider.requests.size).toBe(0);
      await Promise.all(Array.from({ length: 10 }, () => driver.authorizationUrl(start().request)));
      await driver.authorizationUrl(start().request);
      expect(provider.requests.get("/.well-known/openid-configuration")).toBe(1);
    });
  });
}

function describeRefusals(local: Local, opened: Opened): void {
  describe("refuses", () => {
    it("a code that was used", async () => {
      const { driver } = opened();
      const signed = await signIn(driver, local());
      await driver.exchange(signed);
      await expectRefused(driver.exchange(signed), signed);
    });

    it("another verifier, and the code is gone with it", async () => {
      const { driver } = opened();
      const signed = await signIn(driver, local());
      await expectRefused(driver.exchange({ ...signed, codeVerifier: start().codeVerifier }), signed);
    });

    it("another nonce", async () => {
      const { driver } = opened();
      const signed = await signIn(driver, local());
      await expectRefused(driver.exchange({ ...signed, nonce: start().nonce }), signed);
    });

    it("a code that nobody issued", async () => {
      const { driver } = opened();
      const { codeVerifier, nonce } = start();
      await expectRefused(driver.exchange({ code: "invented", codeVerifier, nonce }), { codeVerifier, nonce });
    });

    it.each([
      ["expired", (claims: Claims) => ({ ...claims, exp: claims.iat - 60 }), "own"],
      ["for another audience", (claims: Claims) => ({ ...claims, aud: "somebody-else" }), "own"],
      ["for two audiences", (claims: Claims) => ({ ...claims, aud: [claims.aud, "somebody-else"] }), "own"],
      ["of another issuer", (claims: Claims) => ({ ...claims, iss: "https://issuer.example" }), "own"],
      ["for another client", (claims: Claims) => ({ ...claims, azp: "somebody-else" }), "own"],
      ["without a subject", ({ sub: _, ...claims }: Claims) => claims, "own"],
      ["without an expiry", ({ exp: _, ...claims }: Claims) => claims, "own"],
      ["without a nonce", ({ nonce: _, ...claims }: Claims) => claims, "own"],
      ["signed by an unknown key", (claims: Claims) => claims, "another"],
      ["signed by another key under a known name", (claims: Claims) => claims, "another under the same name"],
    ] as const)("an ID token from the exchange that is %s", async (_what, change, key) => {
      const { driver, clock } = opened();
      const signed = start();
      const good = local().claimsFor(ADA, { nonce: signed.nonce, issuedAt: Math.floor(clock.now() / 1000) });
      answerTokens(local(), await local().signToken({ ...change(good as unknown as Claims) }, key));
      await expectRefused(driver.exchange({ ...signed, code: "any" }), signed);
    });

    it("an ID token without a signature", async () => {
      const { driver, clock } = opened();
      const signed = start();
      answerTokens(local(), unsigned(local(), ADA, signed.nonce, clock));
      await expectRefused(driver.exchange({ ...signed, code: "any" }), signed);
    });

    it("an ID token that anybody with the client's secret could sign", async () => {
      const { driver, clock } = opened();
      const signed = start();
      const claims = local().claimsFor(ADA, { nonce: signed.nonce, issuedAt: Math.floor(clock.now() / 1000) });
      const secret = new TextEncoder().encode(local().clientSecret ?? "");
      const idToken = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret);
      answerTokens(local(), idToken);
      await expectRefused(driver.exchange({ ...signed, code: "any" }), signed);
      await expectRefused(driver.verify(idToken), { idToken });
    });

    it("an answer without an ID token", async () => {
      const { driver } = opened();
      const signed = start();
      answerTokens(local(), null);
      await expectRefused(driver.exchange({ ...signed, code: "any" }), signed);
    });

    it("user info of another subject", async () => {
      const { driver, clock } = opened();
      const signed = start();
      const { email: _, ...claims } = local().claimsFor(ADA, {
        nonce: signed.nonce,
        issuedAt: Math.floor(clock.now() / 1000),
      });
      const idToken = await local().signToken(claims);
      local().override = (path, response) => {
        if (path === "/token") return json(response, tokens(idToken));
        return path === "/me" && json(response, { sub: "mallory", email: "ada@example.test", email_verified: true });
      };
      await expectRefused(driver.exchange({ ...signed, code: "any" }), signed);
    });
  });
}

interface Claims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly nonce: string;
  readonly iat: number;
  readonly exp: number;
}

function describeVerification(local: Local, opened: Opened): void {
  describe("a token that a client brings", () => {
    const nonce = "a-nonce";

    it("is good until the second it expires, by the service's clock", async () => {
      const { driver, clock } = opened(new ManualClock(Date.UTC(2026, 5, 1)));
      const issuedAt = clock.now() / 1000;
      const token = await local().signToken(local().claimsFor(ADA, { nonce, issuedAt, lifetime: 300 }));
      clock.advance(299_999);
      expect((await driver.verify(token)).subject).toBe(ADA.sub);
      clock.advance(1);
      await expectRefused(driver.verify(token), { token });
    });

    it("may begin half a minute ahead of the service's clock, and no more: two machines' clocks are never the same", async () => {
      const { driver, clock } = opened(new ManualClock(Date.UTC(2026, 5, 1)));
      const issuedAt = clock.now() / 1000;
      const signed = (ahead: number) =>
        local().signToken({ ...local().claimsFor(ADA, { nonce, issuedAt: issuedAt + ahead }), nbf: issuedAt + ahead });
      expect((await driver.verify(await signed(30))).subject).toBe(ADA.sub);
      const token = await signed(31);
      await expectRefused(driver.verify(token), { token });
    });

    it.each(["another", "another under the same name"] as const)("is refused with the signature of %s", async (key) => {
      const { driver, clock } = opened();
      const claims = local().claimsFor(ADA, { nonce, issuedAt: clock.now() / 1000 });
      const token = await local().signToken(claims, key);
      await expectRefused(driver.verify(token), { token });
    });

    it("is refused for another audience, client or issuer, without a signature, altered, and as rubbish", async () => {
      const { driver, clock } = opened();
      const claims = local().claimsFor(ADA, { nonce, issuedAt: clock.now() / 1000 });
      const good = await local().signToken(claims);
      expect((await driver.verify(good)).subject).toBe(ADA.sub);
      const [header, , signature] = good.split(".");
      const altered = Buffer.from(JSON.stringify({ ...claims, sub: "mallory" })).toString("base64url");
      const bad = [
        await local().signToken({ ...claims, aud: "somebody-else" }),
        await local().signToken({ ...claims, aud: [local().clientId, "somebody-else"] }),
        await local().signToken({ ...claims, azp: "somebody-else" }),
        await local().signToken({ ...claims, iss: "https://issuer.example" }),
        await local().signToken({ ...claims, sub: "" }),
        unsigned(local(), ADA, nonce, clock),
        `${header}.${altered}.${signature}`,
        "not.a.token",
        "rubbish",
        "",
      ];
      for (const token of bad) await expectRefused(driver.verify(token), token === "" ? {} : { token });
    });
  });
}

function describeFaults(local: Local, opened: Opened): void {
  describe("says that the provider is unavailable when it", () => {
    it("is not there, and asks again a moment later", async () => {
      const gone = await openLocalProvider();
      const { clock, driver } = opened();
      await gone[Symbol.asyncDispose]();
      local().override = (path, response) => path.startsWith("/.well-known") && hangUp(response);
      await expectUnavailable(driver.authorizationUrl(start().request));
      const asked = local().requests.get("/.well-known/openid-configuration");
      await expectUnavailable(driver.authorizationUrl(start().request));
      expect(local().requests.get("/.well-known/openid-configuration")).toBe(asked);
      local().override = null;
      clock.advance(1_000);
      expect(await driver.authorizationUrl(start().request)).toContain(local().issuer);
    });

    const faults: readonly (readonly [string, (response: ServerResponse) => boolean])[] = [
      ["hangs", () => true],
      [
        "begins and never ends",
        (response) => response.writeHead(200, { "content-type": "application/json" }).write("{"),
      ],
      ["hangs up", hangUp],
      ["answers 500", (response) => status(response, 500, "text/html", "<h1>oops</h1>")],
      ["answers a page", (response) => status(response, 200, "text/html", "<h1>welcome</h1>")],
      ["answers broken JSON", (response) => status(response, 200, "application/json", "{")],
      ["sends more than anybody needs", (response) => status(response, 200, "application/json", " ".repeat(2 ** 21))],
      ["redirects", redirect],
    ];

    it.each(faults)("%s where its document is read", async (_what, answer) => {
      const { driver } = opened(realTime(), IMPATIENT);
      local().override = (path, response) => path.startsWith("/.well-known") && answer(response);
      await expectUnavailable(driver.authorizationUrl(start().request));
    });

    it.each(faults)("%s where the code is exchanged", async (_what, answer) => {
      const { driver } = opened(realTime(), IMPATIENT);
      const signed = await signIn(opened().driver, local());
      local().override = (path, response) => path === "/token" && answer(response);
      await expectUnavailable(driver.exchange(signed), signed);
    });

    it.each(faults)("%s where its keys are read", async (_what, answer) => {
      const { driver, clock } = opened(realTime(), IMPATIENT);
      const token = await local().signToken(
        local().claimsFor(ADA, { nonce: "n", issuedAt: Math.floor(clock.now() / 1000) }),
      );
      local().override = (path, response) => path === "/jwks" && answer(response);
      await expectUnavailable(driver.verify(token), { token });
    });

    it("names another issuer, or an endpoint in the clear elsewhere", async () => {
      const good = (await (await fetch(`${local().issuer}/.well-known/openid-configuration`)).json()) as object;
      const documents = [
        { ...good, issuer: "https://issuer.example" },
        { ...good, token_endpoint: "http://token.example/token" },
        { ...good, jwks_uri: "http://keys.example/jwks" },
        { ...good, jwks_uri: undefined },
      ];
      for (const document of documents) {
        const { driver } = opened();
        local().override = (path, response) => path.startsWith("/.well-known") && json(response, document);
        await expectUnavailable(driver.authorizationUrl(start().request));
      }
    });

    it("does not know the client's secret", async () => {
      const { driver } = opened();
      const signed = await signIn(driver, local());
      local().override = (path, response) =>
        path === "/token" && status(response, 401, "application/json", JSON.stringify({ error: "invalid_client" }));
      await expectUnavailable(driver.exchange(signed), { ...signed, clientSecret: local().clientSecret });
    });
  });
}

type Secrets = Readonly<Record<string, unknown>>;

function expectRefused(outcome: Promise<unknown>, secrets: Secrets): Promise<void> {
  return expectFailure(outcome, "IdentityRefusedError", secrets);
}

function expectUnavailable(outcome: Promise<unknown>, secrets: Secrets = {}): Promise<void> {
  return expectFailure(outcome, "IdentityUnavailableError", secrets);
}

/** The error says which it is, and neither it nor a cause holds anything secret. */
async function expectFailure(outcome: Promise<unknown>, kind: string, secrets: Secrets): Promise<void> {
  const error = await outcome.then(
    () => null,
    (reason: unknown) => reason as Error,
  );
  expect(error).toMatchObject({ name: kind });
  const said = JSON.stringify([error?.message, error?.stack, String(error?.cause)]);
  for (const secret of Object.values(secrets)) {
    if (typeof secret === "string") expect(said).not.toContain(secret);
  }
}
