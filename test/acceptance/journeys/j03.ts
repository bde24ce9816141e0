/** J3: an owner invites an agent. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { assertError, fieldsOf, objectsAt, signUp } from "../kit/account.ts";
import { filesHolding } from "../kit/data-directory.ts";
import { send, type Answer } from "../kit/http.ts";
import { textOf } from "../kit/stack.ts";
import type { Checks, World } from "./run.ts";

export async function ownerInvites({ stack }: World): Promise<Checks> {
  const { baseUrl, dataDirectory } = stack;
  const owner = await signUp(baseUrl);
  const client = createClient({ baseUrl, credentials: { apiKey: owner.apiKey } });
  const { vaults } = await client.vaults.list();
  const rights = { scopes: ["files:read", "files:write"] as const, vaultIds: vaults.map(({ id }) => id) };
  const invite = (body: object): Promise<Answer> =>
    send(baseUrl, "/api/auth/invites", { method: "POST", key: owner.apiKey, body: { name: "bot", ...body } });
  let code = "";
  return {
    "J3-default-lifetime": async () => {
      const fields = fieldsOf(await invite({}));
      const seconds = (Date.parse(textOf(fields, "expiresAt")) - Date.now()) / 1000;
      assert.ok(Math.abs(seconds - 3600) <= 1, `expires in ${seconds} s`);
    },
    "J3-api-create": async () => {
      const answer = await invite({ ...rights, expiresInHours: 1 });
      assert.equal(answer.status, 201);
      const fields = fieldsOf(answer);
      code = textOf(fields, "code");
      assert.match(code, /^cofi_[0-9A-Za-z]{49}$/);
      assert.deepEqual([fields["scopes"], fields["vaultIds"]], [rights.scopes, rights.vaultIds]);
    },
    "J3-api-list": async () => {
      const answer = await send(baseUrl, "/api/auth/invites", { key: owner.apiKey });
      const [newest] = objectsAt(fieldsOf(answer), "invites");
      assert.equal(newest?.["status"], "created");
      assert.ok(!new TextDecoder().decode(answer.bytes).includes(code), "the list holds the code");
    },
    "J3-api-hours": async () => {
      assert.equal((await invite({ expiresInHours: 72 })).status, 201);
      assertError(await invite({ expiresInHours: 73 }), 400);
    },
    "J3-sdk-create": async () => {
      const made = await client.invites.create({ name: "bot", ...rights, scopes: [...rights.scopes] });
      assert.deepEqual([made.scopes, made.vaultIds], [rights.scopes, rights.vaultIds]);
      const { invites } = await client.invites.list();
      assert.equal(invites.find(({ id }) => id === made.id)?.status, "created");
    },
    "J3-hash-only": async () => {
      assert.notEqual(code, "");
      const hash = createHash("sha256").update(code).digest("hex");
      assert.ok((await filesHolding(dataDirectory, hash)).length > 0, "no hash of the code");
      assert.deepEqual(await filesHolding(dataDirectory, code), []);
      assert.ok(!stack.printed().includes(code), "the code was printed");
    },
  };
}
