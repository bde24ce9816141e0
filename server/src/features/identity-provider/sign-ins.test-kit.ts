/** TEST ONLY: an app whose users sign in at a real provider on loopback. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { generateNonce, generateRandomness } from "@mysten/sui/zklogin";
import { type LocalProvider, openLocalProvider, type ProviderUser } from "../../../../test/kit/identity-provider.ts";
import { ManualClock } from "../../../../test/kit/clock.ts";
import type { Deps } from "../../deps.ts";
import { openOidc } from "../../drivers/identity-provider/oidc.ts";
import { openDevelopmentProver } from "../../drivers/prover/development.ts";
import { suiZklogin } from "../../drivers/zklogin/sui.ts";
import { openTestApp, type TestAnswer, type TestApp } from "../../app.test-kit.ts";
import { addAccessCode } from "../auth/accounts.test-kit.ts";

export interface SignInApp extends AsyncDisposable {
  readonly service: TestApp;
  readonly local: LocalProvider;
  /** The service's clock; it begins where the provider's is. */
  readonly clock: ManualClock;
}

export const ADA: ProviderUser = { sub: "ada-1815", email: "ada@example.test", emailVerified: true, name: "Ada" };

export async function openSignInApp(replace: (deps: Deps) => Partial<Deps> = () => ({})): Promise<SignInApp> {
  const local = await openLocalProvider();
  const clock = new ManualClock(Date.now());
  const { issuer, clientId, clientSecret, redirectUri } = local;
  const service = await openTestApp({
    replace: (deps) => ({
      clock,
      identityProvider: openOidc({ issuer, clientId, clientSecret }, { redirectUri, clock, timeout: 30_000 }),
      prover: openDevelopmentProver(suiZklogin),
      ...replace(deps),
    }),
  });
  return {
    service,
    local,
    clock,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await local[Symbol.asyncDispose]();
    },
  };
}

export interface Wanted {
  readonly user?: ProviderUser;
  /** "new": one is made; null: none is sent. */
  readonly accessCode?: string | null;
}

/** Begins at the service, signs in at the provider, and brings back what the browser would. */
export async function comeBack(
  { service, local }: SignInApp,
  { user = ADA, accessCode = "new" }: Wanted = {},
  path = "/api/auth/idp?",
): Promise<{ code: string; state: string }> {
  const code = accessCode === "new" ? await addAccessCode(service) : accessCode;
  const query = code === null ? "" : `&accessCode=${code}`;
  const begun = await service.ask("GET", `${path}${query}`.replace("?&", "?"));
  if (begun.status !== 200) throw new Error(`begin: ${begun.status} ${begun.text}`);
  const returned = await local.signIn(String(begun.body["url"]), user);
  if (returned.state !== begun.body["state"]) throw new Error("the provider came back with another state");
  return returned;
}

export async function callBack(app: SignInApp, wanted: Wanted = {}): Promise<TestAnswer> {
  return app.service.ask("POST", "/api/auth/idp/callback", { json: await comeBack(app, wanted) });
}

/** A fresh ephemeral key, as a client makes it, and its nonce. */
export function makeEphemeral() {
  const publicKey = new Ed25519Keypair().getPublicKey();
  const values = {
    ephemeralPublicKey: publicKey.toSuiPublicKey(),
    maxEpoch: 7,
    randomness: generateRandomness(),
  };
  return { values, nonce: generateNonce(publicKey, values.maxEpoch, values.randomness) };
}

/** A zkLogin sign-in that came back: what its callback sends. */
export async function comeBackWithKey(app: SignInApp, wanted: Wanted = {}, ephemeral = makeEphemeral()) {
  const returned = await comeBack(app, wanted, `/api/auth/idp/zklogin?nonce=${ephemeral.nonce}`);
  return { returned, values: ephemeral.values };
}

export async function readAccount({ service }: SignInApp, email = ADA.email ?? "") {
  const { database } = service.deps;
  return database.first(database.build.selectFrom("accounts").selectAll().where("email", "=", email));
}

/** zkLogin, combined or step two. */
export function auth({ service }: SignInApp, json: object, path = "/api/auth/idp/zklogin-auth"): Promise<TestAnswer> {
  return service.ask("POST", path, { json });
}

export function stepOne(
  { service }: SignInApp,
  json: object,
  path = "/api/auth/idp/zklogin-token",
): Promise<TestAnswer> {
  return service.ask("POST", path, { json });
}

export async function signIn(app: SignInApp, wanted: Wanted = {}): Promise<TestAnswer> {
  const { returned, values } = await comeBackWithKey(app, wanted);
  return auth(app, { ...returned, ...values });
}

/** What step two sends, with the salt that step one answered. */
export async function afterStepOne(app: SignInApp, wanted: Wanted = {}) {
  const { returned, values } = await comeBackWithKey(app, wanted);
  const { body } = await stepOne(app, returned);
  return { json: { idToken: String(body["idToken"]), ...values }, salt: String(body["salt"]) };
}
