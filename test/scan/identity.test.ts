/** Every secret of every flow of identity, and a search for it in all that a production server leaves behind. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectStatus, fieldsAt, textIn, type Fields } from "../journeys/kit/answers.ts";
import { newChainKey } from "../journeys/kit/chain.ts";
import { send, type Call } from "../journeys/kit/http.ts";
import { makeAccessCode } from "../journeys/kit/identity.ts";
import { readMailedToken } from "../journeys/kit/outbox.ts";
import { productionSecrets } from "../journeys/kit/production.ts";
import { startServerProcess, type ServerProcess } from "../journeys/kit/server-process.ts";
import { makeDirectory } from "../kit/directory.ts";
import { openLocalProvider, type LocalProvider } from "../kit/identity-provider.ts";
import { recordedSecrets, recordSecret } from "../kit/secret-recorder.ts";
import { findSecrets, readPlaces, requireNoSecrets } from "../kit/secret-scan.ts";

const APP_URL = "http://localhost:3000";
const cleanup = new AsyncDisposableStack();
const directory = makeDirectory();
let provider: LocalProvider;
let server: ServerProcess;
let variables: Readonly<Record<string, string>>;

beforeAll(async () => {
  provider = cleanup.use(await openLocalProvider({ redirectUri: `${APP_URL}/auth/callback` }));
  const own = {
    ...productionSecrets(),
    SERVICE_PAYMENT_SECRET: `whsec_${randomBytes(32).toString("base64")}`,
    SERVICE_METRICS_TOKEN: randomBytes(24).toString("base64url"),
    SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
  };
  for (const [name, text] of Object.entries(own).filter(([name]) => name !== "SERVICE_APP_URL"))
    recordSecret(name, text.replace(/^k1:/, ""));
  variables = {
    ...own,
    SERVICE_DATA_DIR: directory,
    SERVICE_LOG_LEVEL: "debug",
    SERVICE_APP_URL: APP_URL,
    // There nobody demands a prover of production.
    SERVICE_CHAIN_NETWORK: "localnet",
    SERVICE_IDP_ISSUER: provider.issuer,
    SERVICE_IDP_CLIENT_ID: provider.clientId,
    SERVICE_RATE_SIGNUP: "1000",
    SERVICE_RATE_LOGIN: "1000",
    SERVICE_RATE_MAIL: "1000",
  };
  server = cleanup.use(await startServerProcess(variables));
});
afterAll(() => cleanup.disposeAsync(), 60_000);

const ask = (method: string, path: string, call: Call = {}) => send(server.baseUrl, path, { method, ...call });
const post = (path: string, body: object, key?: string) =>
  ask("POST", path, { body, ...(key === undefined ? {} : { key }) });

/** Unrelated words, with a part that stands nowhere by chance. */
const newPassword = (): string => `granite otter ${randomBytes(8).toString("hex")}`;

async function signUp(): Promise<Fields & { readonly email: string; readonly password: string }> {
  const email = `${randomBytes(6).toString("hex")}@example.com`;
  const password = newPassword();
  const accessCode = await makeAccessCode(variables);
  expectStatus(await post("/api/auth/check-access-code", { code: accessCode }), 200);
  return { ...fieldsAt(await post("/api/auth/signup", { email, password, accessCode }), 201), email, password };
}

async function passwordsAndSessions(): Promise<string> {
  const { email, password, ...first } = await signUp();
  const verify = await readMailedToken(directory, email, "verify");
  expectStatus(await post("/api/auth/verify-email", { token: verify }), 200);
  expectStatus(await post("/api/auth/verify-email", { token: verify }), 400);
  expectStatus(await post("/api/auth/login", { email, password: newPassword() }), 401);
  const second = fieldsAt(await post("/api/auth/login", { email, password }), 200);
  fieldsAt(await post("/api/auth/refresh", { refreshToken: second["refreshToken"] }), 200);
  // Presented twice: the session ends.
  expectStatus(await post("/api/auth/refresh", { refreshToken: second["refreshToken"] }), 401);
  expectStatus(await post("/api/auth/logout", { refreshToken: first["refreshToken"] }), 204);
  const third = fieldsAt(await post("/api/auth/login", { email, password }), 200);
  const change = { currentPassword: password, newPassword: newPassword() };
  expectStatus(await post("/api/auth/change-password", change, textIn(third, "accessToken")), 204);
  expectStatus(await post("/api/auth/forgot-password", { email }), 200);
  const token = await readMailedToken(directory, email, "reset");
  expectStatus(await post("/api/auth/reset-password", { token, newPassword: "password password" }), 400);
  const reset = newPassword();
  expectStatus(await post("/api/auth/reset-password", { token, newPassword: reset }), 200);
  return textIn(fieldsAt(await post("/api/auth/login", { email, password: reset }), 200), "accessToken");
}

async function keysAndInvites(accessToken: string): Promise<void> {
  const once = { "idempotency-key": "the-same-twice" };
  const create = { key: accessToken, body: { name: "made" }, headers: once };
  const made = fieldsAt(await ask("POST", "/api/auth/api-keys", create), 201);
  expectStatus(await ask("POST", "/api/auth/api-keys", create), 409);
  const key = textIn(made, "key");
  const rotated = fieldsAt(await post(`/api/auth/api-keys/${String(made["id"])}/rotate`, {}, key), 201);
  expectStatus(await ask("GET", "/api/account", { key }), 401);
  const owner = textIn(rotated, "key");
  const invite = fieldsAt(await post("/api/auth/invites", { name: "agent" }, owner), 201);
  const chain = newChainKey(server.baseUrl, "localnet");
  chain.secretForms.forEach((text) => recordSecret("chain private key", text));
  const claim = await chain.redeeming(textIn(invite, "code"));
  expectStatus(await post("/api/auth/invites/redeem", { ...claim, code: `${claim.code}.its-own-secret-part` }), 400);
  const redeemed = fieldsAt(await post("/api/auth/invites/redeem", claim), 201);
  const agent = textIn(redeemed, "key");
  expectStatus(await ask("POST", "/api/files?name=a.txt", { key: agent, body: randomBytes(2000) }), 201);
  expectStatus(await post("/api/auth/invites/redeem", claim), 410);
  fieldsAt(await post("/api/account/link-chain/challenge", {}, owner), 200);
  fieldsAt(await post("/api/billing/checkout", { plan: "pro" }, owner), 200);
}

async function identityProvider(): Promise<void> {
  const sub = `user-${randomBytes(6).toString("hex")}`;
  const accessCode = await makeAccessCode(variables);
  const begun = fieldsAt(await ask("GET", `/api/auth/idp?accessCode=${accessCode}`), 200);
  const back = await provider.signIn(textIn(begun, "url"), { sub, email: `${sub}@example.com`, emailVerified: true });
  recordSecret("the provider's code", back.code);
  recordSecret("the sign-in's state", back.state);
  fieldsAt(await post("/api/auth/idp/callback", back), 200);
  expectStatus(await post("/api/auth/idp/callback", back), 400);
  const next = fieldsAt(await ask("GET", `/api/auth/idp/zklogin?nonce=${"n".repeat(27)}`), 200);
  const again = await provider.signIn(textIn(next, "url"), { sub, email: `${sub}@example.com`, emailVerified: true });
  recordSecret("the provider's code", again.code);
  fieldsAt(await post("/idp/zklogin-token", again), 200);
}

/** Secrets where they do not belong, as mistaken clients put them. */
async function mistakes(accessToken: string): Promise<void> {
  await ask("GET", `/api/files?apiKey=${accessToken}`);
  await ask("GET", `/${accessToken}`);
  await ask("GET", "/api/account", { headers: { cookie: `session=${accessToken}`, "user-agent": "a client" } });
  await ask("GET", "/api/account", { headers: { authorization: `Basic ${accessToken}` } });
  await ask("POST", "/api/auth/login", { headers: { "x-token": accessToken }, body: { password: newPassword() } });
  const password = newPassword();
  recordSecret("password", password);
  const url = new URL("/api/auth/login", server.baseUrl);
  const headers = { "content-type": "application/json" };
  await fetch(url, { method: "POST", headers, body: `{"email":"a@example.com","password":"${password}` });
  const { port } = new URL(server.baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  socket.end(`GET /api/account HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${accessToken}\r\nbroken\r\n\r\n`);
  socket.resume();
  await once(socket, "close");
}

it("no secret of any flow is in the database, its log, the blobs, the payments or the log [S2.4-hash-only S2.5-hash-only D1-hashes D1-hashes-codes S27]", async () => {
  const accessToken = await passwordsAndSessions();
  await keysAndInvites(accessToken);
  await identityProvider();
  await mistakes(accessToken);

  const kinds = new Set([...recordedSecrets()].map(({ kind }) => kind));
  for (const kind of ["key", "code", "accessToken", "refreshToken", "password", "newPassword", "mailed token"]) {
    expect(kinds).toContain(kind);
  }
  for (const kind of ["idToken", "salt", "nonce", "SERVICE_MASTER_KEY"]) expect(kinds).toContain(kind);
  const isOutbox = (path: string): boolean => path.startsWith("outbox/");
  const running = await readPlaces(directory, (path) => !isOutbox(path));
  expect(running.map(({ name }) => name)).toContain("coffer.sqlite-wal");
  requireNoSecrets(recordedSecrets(), running);
  await server[Symbol.asyncDispose]();
  const stopped = await readPlaces(directory, (path) => !isOutbox(path));
  requireNoSecrets(recordedSecrets(), [...stopped, { name: "log", bytes: Buffer.from(server.printed()) }]);
  expect(server.printed()).toContain('"endpoint":"auth.signup"');

  // Without an SMTP server mails are files: there, and only there, mailed tokens are found, and nothing else.
  const mails = findSecrets(recordedSecrets(), await readPlaces(directory, isOutbox));
  expect(new Set(mails.map(({ kind }) => kind))).toEqual(new Set(["mailed token"]));
});
