/** J12: the development headers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { openLocalProvider } from "../../kit/identity-provider.ts";
import { assertError, fieldsOf, objectAt, signUp } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { makeAccessCode } from "../kit/identity.ts";
import { productionSecrets } from "../kit/production.ts";
import type { Checks, World } from "./run.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { textOf } from "../kit/stack.ts";

export async function developmentHeaders({ stack, scratch }: World): Promise<Checks> {
  const user = await signUp(stack.baseUrl);
  const accountOf = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
    const answer = await send(stack.baseUrl, "/api/account", { headers });
    assert.equal(answer.status, 200);
    return objectAt(fieldsOf(answer), "account")["id"];
  };
  return {
    "J12-user-id": async () => {
      assert.equal(await accountOf({ "x-dev-user-id": user.id }), user.id);
    },
    "J12-idp-id": async () => {
      await runSql(stack.dataDirectory, "UPDATE accounts SET idp_id = ? WHERE id = ?", "provider|7", user.id);
      assert.equal(await accountOf({ "x-dev-idp-id": "provider|7" }), user.id);
    },
    "J12-idp-signed-in": () => checkSignedIn(scratch),
    "J12-first-user": async () => {
      const first = await send(stack.baseUrl, "/api/account", { key: stack.apiKey });
      assert.equal(await accountOf({}), objectAt(fieldsOf(first), "account")["id"]);
    },
    "J12-production": async () => {
      const SERVICE_DATA_DIR = join(scratch, "production");
      await using server = await startServerProcess({ ...productionSecrets(), SERVICE_DATA_DIR });
      assertError(await send(server.baseUrl, "/api/account", { headers: { "x-dev-user-id": user.id } }), 401);
      assertError(await send(server.baseUrl, "/api/account", { headers: { "x-dev-idp-id": "provider|7" } }), 401);
      assertError(await send(server.baseUrl, "/api/account"), 401);
    },
  };
}

/** A user of a real OpenID provider; the header takes the id by which the provider knows them. */
async function checkSignedIn(scratch: string): Promise<void> {
  await using provider = await openLocalProvider();
  const variables = {
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: join(scratch, "provider"),
    SERVICE_APP_URL: new URL(provider.redirectUri).origin,
    SERVICE_IDP_ISSUER: provider.issuer,
    SERVICE_IDP_CLIENT_ID: provider.clientId,
    SERVICE_IDP_CLIENT_SECRET: String(provider.clientSecret),
  };
  await using server = await startServerProcess(variables);
  await signUp(server.baseUrl);
  const accessCode = await makeAccessCode(variables);
  const begun = fieldsOf(await send(server.baseUrl, `/api/auth/idp?accessCode=${accessCode}`));
  const user = { sub: "provider|8", email: "ada@example.com", emailVerified: true };
  const body = await provider.signIn(textOf(begun, "url"), user);
  const signedIn = await send(server.baseUrl, "/api/auth/idp/callback", { method: "POST", body });
  assert.equal(signedIn.status, 200);
  const headers = { "x-dev-idp-id": user.sub };
  const account = objectAt(fieldsOf(await send(server.baseUrl, "/api/account", { headers })), "account");
  assert.equal(account["email"], user.email);
}
