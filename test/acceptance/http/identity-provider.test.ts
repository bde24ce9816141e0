import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { computeZkLoginAddress, generateNonce, generateRandomness } from "@mysten/sui/zklogin";
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLocalProvider, type LocalProvider, type ProviderUser } from "../../kit/identity-provider.ts";
import { readToken } from "../kit/access-token.ts";
import { expectError, expectStatus, fieldsAt, listIn, textIn, type Fields } from "../kit/answers.ts";
import { filesHolding, querySql, runSql } from "../kit/data-directory.ts";
import { makeAccessCode } from "../kit/identity.ts";
import { productionSecrets } from "../kit/production.ts";
import { startAndFail } from "../kit/server-process.ts";
import { useService } from "../kit/service.ts";

const APP_URL = "http://localhost:3000";
let provider: LocalProvider;

beforeAll(async () => {
  provider = await openLocalProvider({ redirectUri: `${APP_URL}/auth/callback` });
});
afterAll(() => provider[Symbol.asyncDispose]());

const service = useService(() => ({
  SERVICE_APP_URL: APP_URL,
  SERVICE_IDP_ISSUER: provider.issuer,
  SERVICE_IDP_CLIENT_ID: provider.clientId,
  SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
  SERVICE_PROVER: "development",
}));

const newUser = (more: Partial<ProviderUser> = {}): ProviderUser => {
  const sub = `user-${randomUUID()}`;
  return { sub, email: `${sub}@example.com`, emailVerified: true, name: "Ada", ...more };
};
const ask = (method: string, path: string, body?: object) =>
  service().ask(method, path, { key: "", ...(body === undefined ? {} : { body }) });
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Begins at the service, signs in at the provider, and comes back with a code. */
async function comeBack(user: ProviderUser, query: Readonly<Record<string, string>> = {}, flow = "") {
  const begun = fieldsAt(await ask("GET", `/api/auth/idp${flow}?${new URLSearchParams(query)}`), 200);
  return provider.signIn(textIn(begun, "url"), user);
}

async function signIn(user: ProviderUser, accessCode?: string) {
  return ask("POST", "/api/auth/idp/callback", await comeBack(user, accessCode === undefined ? {} : { accessCode }));
}

/** An ephemeral key as the Sui client makes one, and the nonce that binds it. */
function newEphemeral() {
  const pair = Ed25519Keypair.generate();
  const [maxEpoch, randomness] = [10, generateRandomness()];
  const nonce = generateNonce(pair.getPublicKey(), maxEpoch, randomness);
  return { nonce, fields: { ephemeralPublicKey: pair.getPublicKey().toSuiPublicKey(), maxEpoch, randomness } };
}

const accountOf = (fields: Fields): Promise<Fields> => service().account(textIn(fields, "accessToken"));

describe("a sign-in with the identity provider", () => {
  it("begins at an authorization URL with PKCE S256, state and nonce, leading back to the web application [S4.2-idp S4.2-idp-no-request D0-idp-paths D3-idp-url D0-app-url D1-open-sign-in]", async () => {
    const fields = fieldsAt(await ask("GET", "/api/auth/idp"), 200);
    expect(Object.keys(fields).sort()).toEqual(["state", "url"]);
    const url = new URL(textIn(fields, "url"));
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      client_id: provider.clientId,
      redirect_uri: `${APP_URL}/auth/callback`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: fields["state"],
      nonce: expect.stringMatching(/^[\w-]{16,}$/),
    });
    expect(url.searchParams.get("scope")?.split(" ")).toContain("openid");
  });

  it("makes the user the first time and finds it the next; no chain key comes of it [S4.2-idp-callback D3-idp-callback S5.5-sign-in S1-identified-by D3-idp-access-code]", async () => {
    const user = newUser();
    const first = fieldsAt(await signIn(user, await service().accessCode()), 200);
    expect(Object.keys(first).sort()).toEqual(["accessToken", "expiresIn", "refreshExpiresIn", "refreshToken"]);
    const account = await accountOf(first);
    expect(account).toMatchObject({
      email: user.email,
      emailVerified: true,
      accessLevel: "owner",
      chainAddress: null,
      chainAddressSource: null,
    });
    const second = await accountOf(fieldsAt(await signIn(user), 200));
    expect(second["id"]).toBe(account["id"]);
    const path = "/api/auth/sessions";
    const sessions = await service().ask("GET", path, { key: textIn(first, "accessToken") });
    expect(listIn(fieldsAt(sessions, 200), "sessions").map(({ method }) => method)).toEqual(["idp", "idp"]);
  });

  it("needs an access code for a new user, before any row is made [D3-idp-access-code S5.5-access-code]", async () => {
    const user = newUser();
    expectError(await signIn(user), 403, "access_code_invalid");
    expectError(await signIn(user, "no-such-code"), 403, "access_code_invalid");
    const rows = await querySql(service().dataDirectory, "SELECT id FROM accounts WHERE idp_id = ?", user.sub);
    expect(rows).toEqual([]);
    const accessCode = await makeAccessCode(service().variables);
    expectStatus(await signIn(user, accessCode), 200);
    expectError(await signIn(newUser(), accessCode), 403, "access_code_invalid");
  });

  it("takes a state once, within 10 minutes, and only its own [D3-idp-url]", async () => {
    const user = newUser();
    const accessCode = await service().accessCode();
    const back = await comeBack(user, { accessCode });
    expectError(await ask("POST", "/api/auth/idp/callback", { ...back, state: "made-up" }), 400, "state_invalid");
    expectStatus(await ask("POST", "/api/auth/idp/callback", back), 200);
    expectError(await ask("POST", "/api/auth/idp/callback", back), 400, "state_invalid");
    const late = await comeBack(user);
    const [row] = await querySql(
      service().dataDirectory,
      "SELECT expires_at FROM sign_ins WHERE state_hash = ?",
      hashOf(late.state),
    );
    expect(Math.abs(Number(row?.["expires_at"]) - Date.now() - 600_000)).toBeLessThan(60_000);
    const age = "UPDATE sign_ins SET expires_at = ? WHERE state_hash = ?";
    await runSql(service().dataDirectory, age, Date.now() - 1, hashOf(late.state));
    expectError(await ask("POST", "/api/auth/idp/callback", late), 400, "state_invalid");
  });

  it("takes the provider's own codes alone", async () => {
    const { state } = await comeBack(newUser());
    const made = { code: "made-up", state };
    expectError(await ask("POST", "/api/auth/idp/callback", made), 400, "provider_refused");
  });

  it("does not take over an account whose e-mail nobody verified", async () => {
    const user = newUser({ email: service().owner.email });
    expectError(await signIn(user, await service().accessCode()), 409, "email_exists");
  });
});

describe("zkLogin", () => {
  it("in one step derives the address from the provider's account, and says so [S4.2-idp-zklogin S4.2-zklogin-auth S5.5-zklogin-address S2.6-chain-address-source D3-idp-callback S5.5-prover-development]", async () => {
    const user = newUser();
    const { nonce, fields } = newEphemeral();
    const back = await comeBack(user, { nonce, accessCode: await service().accessCode() }, "/zklogin");
    const answer = fieldsAt(await ask("POST", "/api/auth/idp/zklogin-auth", { ...back, ...fields }), 200);
    expect(answer).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresIn: 900,
      refreshExpiresIn: 30 * 86_400,
      chainAddress: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      salt: expect.stringMatching(/^\d+$/),
      proof: expect.objectContaining({ proofPoints: expect.any(Object), addressSeed: expect.any(String) }),
    });
    const { chainAddress, salt } = answer;
    expect(chainAddress).toBe(addressOf(user, String(salt)));
    expect(await accountOf(answer)).toMatchObject({
      chainAddress,
      chainAddressSource: "zklogin",
      accessLevel: "owner",
    });
    expect(await filesHolding(service().dataDirectory, String(salt))).toEqual([]);

    const again = newEphemeral();
    const nextTime = await comeBack(user, { nonce: again.nonce }, "/zklogin");
    const repeated = fieldsAt(await ask("POST", "/api/auth/idp/zklogin-auth", { ...nextTime, ...again.fields }), 200);
    expect(repeated).toMatchObject({ chainAddress, salt });
  });

  it.each(["/idp", "/api/auth/idp"])(
    "in two steps at %s answers the same [S4.2-zklogin-two-step S4.2-bare-paths D3-two-step D0-idp-paths]",
    async (prefix) => {
      const user = newUser();
      const { nonce, fields } = newEphemeral();
      const back = await comeBack(user, { nonce, accessCode: await service().accessCode() }, "/zklogin");
      const one = fieldsAt(await ask("POST", `${prefix}/zklogin-token`, back), 200);
      expect(Object.keys(one).sort()).toEqual(["chainAddress", "idToken", "salt"]);
      const { idToken, ...identity } = one;
      expect(identity["chainAddress"]).toBe(addressOf(user, String(identity["salt"])));
      const two = fieldsAt(await ask("POST", `${prefix}/zklogin-auth`, { idToken, ...fields }), 200);
      expect(two).toMatchObject(identity);
      expect(readToken(textIn(two, "accessToken")).claims["sub"]).toBe((await accountOf(two))["id"]);
      expect(await accountOf(two)).toMatchObject({ chainAddressSource: "zklogin" });
    },
  );

  it("takes the client's nonce, and refuses values that do not make it [D3-zklogin-nonce S4.2-idp-zklogin-no-request]", async () => {
    const { nonce, fields } = newEphemeral();
    const begun = fieldsAt(await ask("GET", `/api/auth/idp/zklogin?nonce=${nonce}`), 200);
    expect(new URL(textIn(begun, "url")).searchParams.get("nonce")).toBe(nonce);
    expectError(await ask("GET", "/api/auth/idp/zklogin?nonce=short"), 400, "validation_failed");
    const bare = fieldsAt(await ask("GET", "/api/auth/idp/zklogin"), 200);
    expect(new URL(textIn(bare, "url")).searchParams.get("nonce")).toBeNull();
    const accessCode = await service().accessCode();
    for (const wrong of [{ maxEpoch: 11 }, { randomness: generateRandomness() }, newEphemeral().fields]) {
      const back = await comeBack(newUser(), { nonce, accessCode }, "/zklogin");
      expectError(
        await ask("POST", "/api/auth/idp/zklogin-auth", { ...back, ...fields, ...wrong }),
        400,
        "proof_invalid",
      );
    }
  });

  it("and the plain sign-in do not take each other's states", async () => {
    const { nonce, fields } = newEphemeral();
    const accessCode = await service().accessCode();
    const zk = await comeBack(newUser(), { nonce, accessCode }, "/zklogin");
    expectError(await ask("POST", "/api/auth/idp/callback", zk), 400, "state_invalid");
    const plain = await comeBack(newUser(), { accessCode });
    expectError(await ask("POST", "/api/auth/idp/zklogin-auth", { ...plain, ...fields }), 400, "state_invalid");
  });
});

describe("the prover", () => {
  const identityProvider = { SERVICE_IDP_ISSUER: "https://idp.example", SERVICE_IDP_CLIENT_ID: "client" };
  const start = (more: Readonly<Record<string, string>>) =>
    startAndFail({ SERVICE_ENV: "development", ...identityProvider, ...more });

  it("that does not fit the network is an error at start [S5.5-prover-mismatch]", async () => {
    const wrong = await start({ SERVICE_PROVER: "development", SERVICE_CHAIN_NETWORK: "mainnet" });
    expect(wrong.code).not.toBe(0);
    expect(wrong.printed).toMatch(/SERVICE_PROVER: mainnet rejects/);
  });

  it("of production is hosted and needs its API key [S5.5-prover-production D0-prover-key D0-prover-demanded]", async () => {
    const production = { ...productionSecrets(), SERVICE_ENV: "production" };
    const hosted = { SERVICE_PROVER: "hosted", SERVICE_PROVER_URL: "https://prover.example" };
    const [none, keyless] = [await start(production), await start({ ...production, ...hosted })];
    expect([none.code, keyless.code]).not.toContain(0);
    expect(none.printed).toMatch(/SERVICE_PROVER: production with an identity provider needs a hosted prover/);
    expect(keyless.printed).toContain("SERVICE_PROVER_API_KEY: the hosted prover needs it");
  });
});

function addressOf(user: ProviderUser, salt: string): string {
  return computeZkLoginAddress({
    ...{ claimName: "sub", claimValue: user.sub, userSalt: BigInt(salt) },
    ...{ iss: provider.issuer, aud: provider.clientId, legacyAddress: false },
  });
}
