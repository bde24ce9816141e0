/** J9: a key is revoked, or expires. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { assertError, createKey, fieldsOf, fileNames, objectAt, revokeKey, type NewKey } from "../kit/account.ts";
import { blobBytes, operatorVariables, runSql } from "../kit/data-directory.ts";
import { openUpload, send } from "../kit/http.ts";
import { revokesByCommand } from "./commands.ts";
import type { Checks, World } from "./run.ts";
import { startServerProcess } from "../kit/server-process.ts";
import type { Stack } from "../kit/stack.ts";
import { eventIn, openWebhookSink } from "../kit/webhook-sink.ts";
import { openWebhooks } from "../kit/webhooks.ts";
import { startToolServer, writeCredentials } from "../kit/tool-server.ts";

const PIECE = new Uint8Array(1024 * 1024).fill(7);
const PIECES = 200;

export async function keyRevoked(world: World): Promise<Checks> {
  const { stack, scratch, cleanup } = world;
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  await openWebhooks(stack.baseUrl, stack.apiKey).create(receiver.url, ["api_key.revoked"]);
  const victim = await createKey(stack.baseUrl, stack.apiKey, { name: "victim" });
  assert.equal((await send(stack.baseUrl, "/api/account", { key: victim.key })).status, 200);
  return {
    ...revokesByCommand({ baseUrl: stack.baseUrl, scratch }),
    "J9-next-request": async () => {
      assert.equal((await revokeKey(stack.baseUrl, stack.apiKey, victim.id)).status, 204);
      assertError(await send(stack.baseUrl, "/api/account", { key: victim.key }), 401);
    },
    "J9-webhook": async () => {
      const { data } = eventIn(await receiver.waitFor());
      assert.deepEqual(objectAt({ data }, "data")["object"], { type: "api_key", id: victim.id, chainAddress: null });
      const others = receiver.arrived.slice(1).filter(({ body }) => body.includes(victim.id));
      assert.deepEqual(others, []);
    },
    "J9-second-process": () => checkSecondProcess(stack),
    ...uploadInFlight(stack),
    "J9-second-revoke": async () => {
      const first = await revokedAt(stack, victim);
      assert.match(String(first), /Z$/);
      await wait(5);
      assert.equal((await revokeKey(stack.baseUrl, stack.apiKey, victim.id)).status, 204);
      assert.equal(await revokedAt(stack, victim), first);
    },
    ...toolServerSignedOut(world, victim),
    "J9-expired": async () => {
      const key = await createKey(stack.baseUrl, stack.apiKey, { name: "short", expiresInDays: 1 });
      assert.equal((await send(stack.baseUrl, "/api/account", { key: key.key })).status, 200);
      // A day passes: the clock of a running stack cannot be moved, so its row is.
      await runSql(stack.dataDirectory, "UPDATE api_keys SET expires_at = ? WHERE id = ?", Date.now() - 1, key.id);
      assertError(await send(stack.baseUrl, "/api/account", { key: key.key }), 401);
    },
    ...sdkRaises(stack, victim),
  };
}

async function revokedAt(stack: Stack, key: NewKey): Promise<unknown> {
  const answer = await send(stack.baseUrl, `/api/auth/api-keys/${key.id}`, { key: stack.apiKey });
  assert.equal(answer.status, 200);
  return objectAt(fieldsOf(answer), "apiKey")["revokedAt"];
}

/** Revoked by one process, refused by another that had accepted the key before. */
async function checkSecondProcess(stack: Stack): Promise<void> {
  await using second = await startServerProcess(await operatorVariables(stack.dataDirectory));
  const key = await createKey(stack.baseUrl, stack.apiKey, { name: "for two" });
  assert.equal((await send(second.baseUrl, "/api/account", { key: key.key })).status, 200);
  await revokeKey(stack.baseUrl, stack.apiKey, key.id);
  assertError(await send(second.baseUrl, "/api/account", { key: key.key }), 401);
}

function uploadInFlight(stack: Stack): Checks {
  let before = 0;
  return {
    "J9-in-flight": async () => {
      before = await blobBytes(stack.dataDirectory);
      const key = await createKey(stack.baseUrl, stack.apiKey, { name: "in flight" });
      const upload = openUpload(stack.baseUrl, "/api/files?name=in-flight.bin", key.key, PIECE, PIECES);
      await upload.sendPieces(PIECES / 4);
      const arrived = async (): Promise<boolean> => (await blobBytes(stack.dataDirectory)) > before + PIECE.length;
      for (let tries = 0; tries < 100 && !(await arrived()); tries += 1) await wait(100);
      assert.ok(await arrived(), "no bytes had arrived yet");
      await revokeKey(stack.baseUrl, stack.apiKey, key.id);
      await upload.sendPieces(PIECES - PIECES / 4);
      const outcome = await upload.outcome;
      assert.ok("status" in outcome, JSON.stringify(outcome));
      assert.equal(outcome.status, 401);
      assert.match(outcome.body, /^\{"error":"[^"]+"\}$/);
    },
    "J9-nothing-visible": async () => {
      const names = await fileNames(stack.baseUrl, stack.apiKey);
      assert.ok(!names.includes("in-flight.bin"), names.join());
    },
    "J9-partial-collected": async () => {
      const limit = before + PIECE.length;
      for (let tries = 0; tries < 100 && (await blobBytes(stack.dataDirectory)) > limit; tries += 1) await wait(100);
      assert.ok((await blobBytes(stack.dataDirectory)) <= limit, "bytes of the upload are still there");
    },
  };
}

function toolServerSignedOut({ stack, scratch, cleanup }: World, victim: NewKey): Checks {
  const directory = join(scratch, "agent");
  let saved = "";
  return {
    "J9-mcp-signed-out": async () => {
      const credentialsFile = await writeCredentials(directory, stack.baseUrl, victim.key);
      saved = await readFile(credentialsFile, "utf8");
      const tools = cleanup.use(await startToolServer({ credentialsFile, folder: scratch }));
      const answer = await tools.call("vault_list");
      assert.equal(answer.isError, true, answer.wire);
      assert.ok(answer.wire.includes("signed_out"), answer.wire);
    },
    "J9-credentials-kept": async () => {
      assert.notEqual(saved, "");
      assert.equal(await readFile(join(directory, "config.json"), "utf8"), saved);
    },
  };
}

function sdkRaises(stack: Stack, victim: NewKey): Checks {
  let requests = 0;
  const client = createClient({
    baseUrl: stack.baseUrl,
    credentials: { apiKey: victim.key },
    transport: (request) => {
      requests += 1;
      return fetch(request.url, request);
    },
  });
  return {
    "J9-sdk-typed": async () => {
      await assert.rejects(client.account.get(), (error) => {
        assert.ok(error instanceof Error && "code" in error && "status" in error);
        assert.equal(error.code, "invalid_credential");
        assert.equal(error.status, 401);
        return true;
      });
    },
    "J9-sdk-no-retry": async () => {
      assert.equal(requests, 1);
      return Promise.resolve();
    },
  };
}
