/** J12: the development headers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { assertError, fieldsOf, objectAt, signUp } from "../kit/account.ts";
import { runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { productionSecrets } from "../kit/production.ts";
import type { Checks, World } from "./run.ts";
import { startServerProcess } from "../kit/server-process.ts";

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
      // Sign-in by an identity provider does not exist yet, so its id is put into the row.
      await runSql(stack.dataDirectory, "UPDATE accounts SET idp_id = ? WHERE id = ?", "provider|7", user.id);
      assert.equal(await accountOf({ "x-dev-idp-id": "provider|7" }), user.id);
    },
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
