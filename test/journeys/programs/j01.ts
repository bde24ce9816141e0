/** J1: an owner signs up. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { assertError, fieldsOf, freshEmail, objectAt, signUp } from "../kit/account.ts";
import { databasePath, filesHolding, operatorVariables, querySql } from "../kit/data-directory.ts";
import { makeAccessCode, PASSWORD, tokensIn } from "../kit/identity.ts";
import { send } from "../kit/http.ts";
import { productionSecrets } from "../kit/production.ts";
import { signsUpByCommand } from "./commands-session.ts";
import type { Checks, World } from "./run.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { textOf, type Stack } from "../kit/stack.ts";
import { startToolServer, writeCredentials } from "../kit/tool-server.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function ownerSignsUp(world: World): Promise<Checks> {
  const { stack, scratch, cleanup } = world;
  const email = freshEmail();
  const owner = await signUp(stack.baseUrl, email);
  return {
    ...(await signUpWithPassword(stack)),
    ...signsUpByCommand(world),
    "J1-dev-signup": () => checkSignup(stack),
    "J1-dev-signup-owner": async () => {
      const answer = await send(stack.baseUrl, "/api/account", { key: owner.apiKey });
      const account = objectAt(fieldsOf(answer), "account");
      assert.equal(account["id"], owner.id);
      assert.equal(account["accessLevel"], "owner");
      assert.equal(account["emailVerified"], false);
    },
    "J1-unverified-upload": async () => {
      const body = randomBytes(1000);
      const upload = { method: "POST", key: owner.apiKey, body };
      assert.equal((await send(stack.baseUrl, "/api/files?name=first.bin", upload)).status, 201);
    },
    "J1-dev-signup-409": async () => {
      assertError(await send(stack.baseUrl, "/api/auth/dev-signup", { method: "POST", body: { email } }), 409);
    },
    "J1-production-404": () => checkProduction(scratch),
    "J1-sdk-account": async () => {
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
      const { account } = await client.account.get();
      assert.equal(account.id, owner.id);
      assert.equal(account.accessLevel, "owner");
    },
    "J1-mcp-account": async () => {
      const credentialsFile = await writeCredentials(join(scratch, "agent"), stack.baseUrl, owner.apiKey);
      const tools = cleanup.use(await startToolServer({ credentialsFile, folder: scratch }));
      const answer = await tools.call("status_check");
      assert.equal(answer.isError, false, answer.wire);
      assert.ok(answer.wire.includes("owner"), answer.wire);
      assert.ok(!tools.stream().includes(owner.apiKey), "the key is in the stream");
    },
    "J1-hash-only": async () => {
      const hash = createHash("sha256").update(owner.apiKey).digest("hex");
      const holders = await filesHolding(stack.dataDirectory, hash);
      const database = await databasePath(stack.dataDirectory);
      assert.ok(holders.length > 0 && holders.every((path) => path.startsWith(database)), holders.join());
    },
    "J1-key-nowhere": async () => {
      assert.deepEqual(await filesHolding(stack.dataDirectory, owner.apiKey), []);
      assert.deepEqual(
        (await filesHolding(stack.dataDirectory, stack.apiKey)).filter((path) => path !== stack.credentialsFile),
        [],
      );
      assert.ok(!stack.printed().includes(owner.apiKey), "a key was printed");
      assert.ok(!stack.printed().includes(stack.apiKey), "the stack's key was printed");
    },
  };
}

/** The way everybody else comes in: e-mail, password and an access code. */
async function signUpWithPassword({ baseUrl, dataDirectory }: Stack): Promise<Checks> {
  const accessCode = await makeAccessCode(await operatorVariables(dataDirectory));
  const [email, stranger] = [freshEmail(), freshEmail()];
  const post = (path: string, body: object, key?: string) =>
    send(baseUrl, path, { method: "POST", body, ...(key === undefined ? {} : { key }) });
  const isValid = async (): Promise<unknown> =>
    fieldsOf(await post("/api/auth/check-access-code", { code: accessCode }))["valid"];
  let accessToken = "";
  return {
    "J1-signup": async () => {
      assert.equal(await isValid(), true);
      const answer = await post("/api/auth/signup", { email, password: PASSWORD, accessCode });
      assert.equal(answer.status, 201);
      ({ accessToken } = tokensIn(answer));
    },
    "J1-signup-owner": async () => {
      const account = objectAt(fieldsOf(await send(baseUrl, "/api/account", { key: accessToken })), "account");
      assert.deepEqual([account["email"], account["accessLevel"], account["emailVerified"]], [email, "owner", false]);
    },
    "J1-signup-no-code": async () => {
      const body = { email: stranger, password: PASSWORD };
      assertError(await post("/api/auth/signup", body), 403);
      assertError(await post("/api/auth/signup", { ...body, accessCode: "wrong" }), 403);
      assertError(await post("/api/auth/signup", { ...body, accessCode }), 403);
      assert.deepEqual(await querySql(dataDirectory, "SELECT id FROM accounts WHERE email = ?", stranger), []);
    },
    "J1-access-code": async () => {
      assert.equal(await isValid(), false, "the sign-up used the code up; looking at it before had not");
      const another = await makeAccessCode(await operatorVariables(dataDirectory));
      for (let times = 0; times < 2; times += 1) {
        const answer = await post("/api/auth/check-access-code", { code: another });
        assert.deepEqual([answer.status, answer.json()], [200, { valid: true }]);
      }
    },
    "J1-unverified-checkout": async () => {
      const refused = await post("/api/billing/checkout", { plan: "pro" }, accessToken);
      assertError(refused, 403);
      assert.deepEqual(refused.json(), { error: "Email verification required" });
    },
  };
}

async function checkSignup(stack: Stack): Promise<void> {
  const email = freshEmail();
  const answer = await send(stack.baseUrl, "/api/auth/dev-signup", { method: "POST", body: { email } });
  assert.equal(answer.status, 200);
  const fields = fieldsOf(answer);
  assert.deepEqual(Object.keys(fields).sort(), ["apiKey", "email", "id", "warning"]);
  assert.match(textOf(fields, "id"), UUID);
  assert.equal(fields["email"], email);
  assert.match(textOf(fields, "apiKey"), /^cof_[0-9A-Za-z]{49}$/);
  assert.notEqual(textOf(fields, "warning"), "");
}

async function checkProduction(scratch: string): Promise<void> {
  await using server = await startServerProcess({
    SERVICE_ENV: "production",
    ...productionSecrets(),
    SERVICE_DATA_DIR: join(scratch, "production"),
  });
  const call = { method: "POST", body: { email: freshEmail() } };
  assertError(await send(server.baseUrl, "/api/auth/dev-signup", call), 404);
  assertError(await send(server.baseUrl, "/api/auth/dev-signup", { method: "POST", body: { email: 7 } }), 404);
}
