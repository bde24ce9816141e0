/** J3: an owner invites an agent. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { assertError, fieldsOf, objectsAt, signUp } from "../kit/account.ts";
import { filesHolding } from "../kit/data-directory.ts";
import { send, type Answer } from "../kit/http.ts";
import { textOf } from "../kit/stack.ts";
import { startToolServer, writeCredentials } from "../kit/tool-server.ts";
import { invitesByCommand } from "./commands.ts";
import { callAgreed } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";

export async function ownerInvites({ stack, scratch }: World): Promise<Checks> {
  const { baseUrl, dataDirectory } = stack;
  const owner = await signUp(baseUrl);
  const client = createClient({ baseUrl, credentials: { apiKey: owner.apiKey } });
  const { vaults } = await client.vaults.list();
  const rights = { scopes: ["files:read", "files:write"] as const, vaultIds: vaults.map(({ id }) => id) };
  const invite = (body: object): Promise<Answer> =>
    send(baseUrl, "/api/auth/invites", { method: "POST", key: owner.apiKey, body: { name: "bot", ...body } });
  let code = "";
  return {
    ...(await invitesByCommand({ baseUrl, scratch })),
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
    ...invitingByTool(baseUrl, owner.apiKey, scratch),
    "J3-hash-only": async () => {
      assert.notEqual(code, "");
      const hash = createHash("sha256").update(code).digest("hex");
      assert.ok((await filesHolding(dataDirectory, hash)).length > 0, "no hash of the code");
      assert.deepEqual(await filesHolding(dataDirectory, code), []);
      assert.ok(!stack.printed().includes(code), "the code was printed");
    },
  };
}

/** The code goes into a file of the owner's, and over no wire of the tool server. */
function invitingByTool(baseUrl: string, apiKey: string, scratch: string): Checks {
  let code = "";
  let stream = "";
  return {
    "J3-mcp-file": async () => {
      const directory = join(scratch, "inviting");
      const credentialsFile = await writeCredentials(directory, baseUrl, apiKey);
      const environment = { SERVICE_CONFIG_DIR: directory };
      await using tools = await startToolServer({ credentialsFile, folder: scratch, environment });
      const { vaults } = await createClient({ baseUrl, credentials: { apiKey } }).vaults.list();
      const given = { name: "bot", vaultIds: vaults.map(({ id }) => id) };
      const answer = await callAgreed(tools, "access_grant", given);
      const path = textOf(answer.facts, "file").replaceAll(/<\/?[\w-]{8}>/g, "");
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      code = (await readFile(path, "utf8")).trim();
      assert.match(code, /^cofi_/);
      stream = tools.stream();
    },
    "J3-mcp-no-code": () => {
      assert.ok(code.length > 20 && stream.length > 100);
      assert.ok(!stream.includes(code.slice(0, 30)), "the code is in the stream");
      return Promise.resolve();
    },
  };
}
