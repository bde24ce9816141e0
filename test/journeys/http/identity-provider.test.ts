import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { computeZkLoginAddress, generateNonce, generateRandomness } from "@mysten/sui/zklogin";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openLocalProvider, type LocalProvider } from "../../kit/identity-provider.ts";
import { expectError, fieldsAt, textIn } from "../kit/answers.ts";
import { filesHolding } from "../kit/data-directory.ts";
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

const post = (path: string, body: object) => service().ask("POST", path, { key: "", body });

it("whoever signs in at the provider has one account: by zkLogin with a chain address of it, and without [S4.2-idp-callback D3-idp-callback S5.5-sign-in S1-identified-by S4.2-zklogin-auth S5.5-zklogin-address S2.6-chain-address-source S5.5-prover-development]", async () => {
  const sub = `user-${randomUUID()}`;
  const user = { sub, email: `${sub}@example.com`, emailVerified: true, name: "Ada" };
  /** Begins at the service, signs in at the provider, and comes back with a code. */
  const comeBack = async (path: string, query: Readonly<Record<string, string>> = {}) => {
    const begun = await service().ask("GET", `${path}?${new URLSearchParams(query)}`, { key: "" });
    return provider.signIn(textIn(fieldsAt(begun, 200), "url"), user);
  };
  const uninvited = await comeBack("/api/auth/idp");
  expectError(await post("/api/auth/idp/callback", uninvited), 403, "access_code_invalid");

  const pair = Ed25519Keypair.generate();
  const [maxEpoch, randomness] = [10, generateRandomness()];
  const nonce = generateNonce(pair.getPublicKey(), maxEpoch, randomness);
  const back = await comeBack("/api/auth/idp/zklogin", { nonce, accessCode: await service().accessCode() });
  const values = { ephemeralPublicKey: pair.getPublicKey().toSuiPublicKey(), maxEpoch, randomness };
  const { chainAddress, salt, ...tokens } = fieldsAt(
    await post("/api/auth/idp/zklogin-auth", { ...back, ...values }),
    200,
  );
  const address = computeZkLoginAddress({
    claimName: "sub",
    claimValue: sub,
    userSalt: BigInt(String(salt)),
    iss: provider.issuer,
    aud: provider.clientId,
    legacyAddress: false,
  });
  expect(chainAddress).toBe(address);
  expect(tokens["proof"]).toMatchObject({ proofPoints: expect.any(Object), addressSeed: expect.any(String) });
  const account = await service().account(textIn(tokens, "accessToken"));
  expect(account).toMatchObject({ email: user.email, chainAddress, chainAddressSource: "zklogin" });
  expect(await filesHolding(service().dataDirectory, String(salt))).toEqual([]);

  const plain = fieldsAt(await post("/api/auth/idp/callback", await comeBack("/api/auth/idp")), 200);
  expect((await service().account(textIn(plain, "accessToken")))["id"]).toBe(account["id"]);
});
