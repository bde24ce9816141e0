/** J8: a webhook to the owner's system. */
import { createClient } from "@coffer/sdk";
import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { assertError, fieldsOf, objectAt, signUp, type NewAccount } from "../kit/account.ts";
import { newChainKey, type ChainKey } from "../kit/chain.ts";
import { filesHolding, runSql } from "../kit/data-directory.ts";
import { send } from "../kit/http.ts";
import { makeAccessCode, signUpWithCode } from "../kit/identity.ts";
import { productionSecrets } from "../kit/production.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { textOf } from "../kit/stack.ts";
import { startToolServer, writeCredentials } from "../kit/tool-server.ts";
import {
  isSignedBy,
  openWebhookSink,
  tampered,
  verifyArrived,
  type Receiver,
  type WebhookSink,
} from "../kit/webhook-sink.ts";
import {
  assertTestRecord,
  eventually,
  hurryToEnd,
  openWebhooks,
  type NewWebhook,
  type Webhooks,
} from "../kit/webhooks.ts";
import { webhooksByCommand } from "./commands.ts";
import type { Checks, World } from "./run.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Everything that the checks of this journey share. */
interface Scene {
  readonly world: World;
  readonly owner: NewAccount;
  readonly webhooks: Webhooks;
  readonly sink: WebhookSink;
  /** Where the owner's endpoint is. */
  readonly receiver: Receiver;
  readonly made: NewWebhook;
  readonly agent: { readonly key: string; readonly chain: ChainKey };
  /** Unusual enough never to occur by chance; in names and contents only. */
  readonly canary: string;
}

export async function webhookToOwner(world: World): Promise<Checks> {
  const { baseUrl } = world.stack;
  const sink = world.cleanup.use(await openWebhookSink());
  const owner = await signUp(baseUrl);
  const webhooks = openWebhooks(baseUrl, owner.apiKey);
  const receiver = sink.receiver();
  const made = await webhooks.create(receiver.url, ["file.uploaded", "vault.member_removed"]);
  const agent = await inviteAgent(world, owner);
  const canary = `canary-${randomBytes(6).toString("hex")}`;
  const scene: Scene = { world, owner, webhooks, sink, receiver, made, agent, canary };
  return {
    ...webhooksByCommand({ baseUrl, scratch: world.scratch }, receiver.url),
    ...slow(scene),
    ...records(scene),
    ...signatures(scene),
    ...events(scene),
    ...retries(scene),
    ...targets(scene),
    ...others(scene),
  };
}

async function inviteAgent({ stack: { baseUrl } }: World, owner: NewAccount): Promise<Scene["agent"]> {
  const call = { method: "POST", key: owner.apiKey, body: { name: "bot" } };
  const code = textOf(fieldsOf(await send(baseUrl, "/api/auth/invites", call)), "code");
  const chain = newChainKey(baseUrl);
  const body = await chain.redeeming(code);
  const redeemed = await send(baseUrl, "/api/auth/invites/redeem", { method: "POST", body });
  return { key: textOf(fieldsOf(redeemed), "key"), chain };
}

/** This receiver takes its time while the other checks run. */
function slow({ sink, webhooks }: Scene): Checks {
  const receiver = sink.receiver();
  receiver.answer("hang");
  const record = webhooks.create(receiver.url, ["vault.deleted"]).then(({ id }) => webhooks.test(id));
  record.catch(() => undefined);
  return {
    "J8-slow": async () => {
      const { status, httpStatus, lastError } = await record;
      assert.deepEqual([status, httpStatus, lastError], ["failed", 0, "timeout"]);
      assert.equal(receiver.arrived.length, 1);
    },
  };
}

function records({ world: { scratch, stack }, owner, webhooks, receiver, sink, made }: Scene): Checks {
  return {
    "J8-api-create": async () => {
      assert.match(made.secret, /^whsec_[0-9A-Za-z+/]{43}=$/);
      const answers = [await webhooks.ask("GET", "/"), await webhooks.ask("GET", `/${made.id}`)];
      for (const { bytes } of answers) assert.ok(!new TextDecoder().decode(bytes).includes("secret"));
      assert.deepEqual(await filesHolding(stack.dataDirectory, made.secret.slice("whsec_".length)), []);
      assert.ok(!stack.printed().includes(made.secret));
    },
    "J8-none": async () => {
      const { lastDeliveryStatus, lastDeliveryAt, failureCount } = await webhooks.get(made.id);
      assert.deepEqual([lastDeliveryStatus, lastDeliveryAt, failureCount], ["none", null, 0]);
    },
    "J8-test-record": async () => {
      receiver.answer(200);
      assertTestRecord(await webhooks.test(made.id), "success", 200);
      const { lastDeliveryStatus, lastDeliveryAt } = await webhooks.get(made.id);
      assert.equal(lastDeliveryStatus, "success");
      assert.notEqual(lastDeliveryAt, null);
    },
    "J8-no-answer": async () => {
      const silent = sink.receiver();
      silent.answer("reset");
      const { id } = await webhooks.create(silent.url);
      assertTestRecord(await webhooks.test(id), "failed", 0);
    },
    "J8-sdk-create": async () => {
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
      const place = sink.receiver();
      const { webhook, secret } = await client.webhooks.create({ url: place.url, events: ["file.uploaded"] });
      const delivery = await client.webhooks.test(webhook.id);
      assertTestRecord({ ...delivery }, "success", 204);
      assert.deepEqual((await client.webhooks.delivery(webhook.id, delivery.id)).delivery, delivery);
      assert.ok(isSignedBy(await place.waitFor(), secret));
      await client.webhooks.delete(webhook.id);
    },
    "J8-mcp-test": async () => {
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
      const { webhook } = await client.webhooks.create({ url: sink.receiver().url, events: ["file.uploaded"] });
      const credentialsFile = await writeCredentials(join(scratch, "owner"), stack.baseUrl, owner.apiKey);
      await using tools = await startToolServer({ credentialsFile, folder: scratch });
      const sent = await tools.call("webhook_send", { webhookId: webhook.id });
      assert.equal(sent.isError, false, sent.wire);
      const [delivery] = (await client.webhooks.deliveries(webhook.id)).deliveries;
      const { deliveryId, status, httpStatus, attempts } = sent.facts;
      const told = [delivery?.id, delivery?.status, delivery?.httpStatus, delivery?.attempts];
      assert.deepEqual([deliveryId, status, httpStatus, attempts], told);
      await client.webhooks.delete(webhook.id);
    },
  };
}

function signatures({ receiver, made }: Scene): Checks {
  return {
    "J8-signature": async () => {
      assert.equal(receiver.arrived.length, 1);
      const arrived = await receiver.waitFor();
      assert.equal(arrived.method, "POST");
      assert.equal(verifyArrived(arrived, made.secret)["type"], "webhook.test");
      assert.ok(!isSignedBy(tampered(arrived), made.secret));
      assert.ok(Math.abs(Number(arrived.headers["webhook-timestamp"]) * 1000 - Date.now()) < 5 * 60_000);
      assert.match(String(arrived.headers["webhook-id"]), /^msg_[0-9a-f]{32}$/);
    },
    "J8-sdk-verify": async () => {
      const { body, headers } = await receiver.waitFor();
      const another = `whsec_${randomBytes(32).toString("base64")}`;
      for (const secrets of [made.secret, [another, made.secret]])
        assert.equal((await verifyWebhook({ body, headers, secrets })).type, "webhook.test");
      const refused = { ...tampered(await receiver.waitFor()), secrets: made.secret };
      const isMismatch = (error: unknown): boolean =>
        error instanceof WebhookVerificationError && error.reason === "no_match";
      await assert.rejects(verifyWebhook(refused), isMismatch);
      await assert.rejects(verifyWebhook({ body, headers, secrets: another }), isMismatch);
    },
  };
}

function events(scene: Scene): Checks {
  const { world, owner, receiver, made, agent, canary } = scene;
  const { baseUrl } = world.stack;
  let event: Fields = {};
  return {
    "J8-event": async () => {
      const body = new TextEncoder().encode(canary);
      const answer = await send(baseUrl, `/api/files?name=${canary}`, { method: "POST", key: agent.key, body });
      const answeredAt = Date.now();
      const file = objectAt(fieldsOf(answer), "file");
      const arrived = await receiver.waitFor((one) => one.body.includes(textOf(file, "id")));
      assert.ok(arrived.at - answeredAt < 2000, `it took ${arrived.at - answeredAt} ms`);
      event = verifyArrived(arrived, made.secret);
      const { object, actor, accountId } = objectAt(event, "data");
      const { id, versionId, vaultId, folderId, size, encrypted } = file;
      assert.deepEqual(object, { type: "file", id, vaultId, folderId, versionId, size, encrypted });
      assert.equal(size, canary.length);
      assert.equal(objectAt({ actor }, "actor")["chainAddress"], agent.chain.address);
      assert.equal(accountId, owner.id);
      const ids = receiver.arrived.map(({ headers }) => headers["webhook-id"]);
      assert.equal(new Set(ids).size, ids.length);
    },
    "J8-sdk-feed": async () => {
      const client = createClient({ baseUrl, credentials: { apiKey: owner.apiKey } });
      const sequence = Number(objectAt(event, "data")["sequence"]);
      for await (const told of client.events.follow({ after: sequence - 1, signal: AbortSignal.timeout(10_000) })) {
        assert.deepEqual(told, event);
        return;
      }
      assert.fail("the feed ended");
    },
    "J8-no-public-names": async () => {
      assert.ok(receiver.arrived.length > 1);
      for (const { body, headers } of receiver.arrived) assert.ok(!(body + JSON.stringify(headers)).includes(canary));
      return Promise.resolve();
    },
  };
}

function retries({ world: { stack }, owner, webhooks, receiver, made }: Scene): Checks {
  /** Uploads something; answers the delivery that tells of it, ended. */
  const deliver = async (name: string): Promise<Fields> => {
    const before = receiver.arrived.length;
    const upload = { method: "POST", key: owner.apiKey, body: new Uint8Array(1) };
    await send(stack.baseUrl, `/api/files?name=${name}`, upload);
    const messageId = (await receiver.waitForCount(before + 1))[before]?.headers["webhook-id"];
    const all = () => webhooks.deliveries(made.id);
    const [delivery] = await eventually(
      async () => (await all()).filter((one) => one["messageId"] === messageId),
      ([one]) => one !== undefined,
    );
    const ended = await hurryToEnd(webhooks, stack.dataDirectory, made.id, String(delivery?.["id"]));
    const later = receiver.arrived.slice(before).map(({ headers }) => headers["webhook-id"]);
    assert.deepEqual(later, Array(Number(ended["attempts"])).fill(messageId));
    return ended;
  };
  return {
    "J8-retry": async () => {
      receiver.answer(500, 500, 200);
      const delivery = await deliver("retried");
      const { attempts, status, httpStatus, lastError } = delivery;
      assert.deepEqual([attempts, status, httpStatus, lastError], [3, "success", 200, ""]);
      const { failureCount, lastDeliveryStatus, lastDeliveryAt } = await webhooks.get(made.id);
      assert.deepEqual([failureCount, lastDeliveryStatus], [0, "success"]);
      assert.equal(lastDeliveryAt, delivery["completedAt"]);
    },
    "J8-always-500": async () => {
      receiver.answer(500);
      const { attempts, maxAttempts, status, lastError } = await deliver("refused");
      assert.deepEqual([attempts, maxAttempts, status], [10, 10, "failed"]);
      assert.match(String(lastError), /500/);
      assert.equal((await webhooks.get(made.id))["failureCount"], 10);
    },
  };
}

function targets({ world: { scratch }, webhooks, sink }: Scene): Checks {
  return {
    "J8-redirect": async () => {
      await using elsewhere = await openWebhookSink();
      const place = sink.receiver();
      place.answer({ status: 307, headers: { location: elsewhere.receiver().url } });
      const { id } = await webhooks.create(place.url);
      const { status, lastError } = await webhooks.test(id);
      assert.deepEqual([status, lastError], ["failed", "HTTP 307"]);
      assert.equal(elsewhere.connections(), 0);
    },
    "J8-private": async () => {
      const variables = { ...productionSecrets(), SERVICE_DATA_DIR: join(scratch, "production") };
      await using server = await startServerProcess(variables);
      await using internal = await openWebhookSink();
      const { accessToken } = await signUpWithCode(server.baseUrl, await makeAccessCode(variables));
      const mine = openWebhooks(server.baseUrl, accessToken);
      const { port } = new URL(internal.baseUrl);
      const urls = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"].map(
        (host) => `https://${host}:${port}/`,
      );
      for (const url of urls) assertError(await mine.ask("POST", "/", { url, events: ["*"] }), 400);
      const { id } = await mine.create("https://receiver.example/");
      for (const url of urls) {
        // As if it had been registered before the operator closed that network.
        await runSql(variables.SERVICE_DATA_DIR, "UPDATE webhooks SET url = ? WHERE id = ?", url, id);
        const { status, httpStatus, lastError } = await mine.test(id);
        assert.deepEqual([status, httpStatus, lastError], ["failed", 0, "blocked address"]);
      }
      assert.equal(internal.connections(), 0);
    },
  };
}

/** Every route on one endpoint. */
const ROUTES = [
  ...["GET ", "PATCH ", "DELETE ", "POST /test", "POST /rotate-secret", "GET /deliveries"],
  ...["POST /recover", "GET /deliveries/UNKNOWN", "POST /deliveries/UNKNOWN/redeliver"],
];
const UNKNOWN = "0b8e1d4e-1c56-4cf5-9f0c-5f7b0e6f3a11";

function others({ world, webhooks, made, agent, sink }: Scene): Checks {
  const { baseUrl } = world.stack;
  return {
    "J8-unknown": async () => {
      for (const path of ["", "/test"]) {
        const method = path === "" ? "GET" : "POST";
        assertError(await webhooks.ask(method, `/${UNKNOWN}${path}`), 404);
        assertError(await webhooks.ask(method, `/not-a-uuid${path}`), 400);
      }
    },
    "J8-rotate": async () => {
      const place = sink.receiver();
      const { id, secret: old } = await webhooks.create(place.url);
      const fields = fieldsOf(await webhooks.ask("POST", `/${id}/rotate-secret`));
      await webhooks.test(id);
      const arrived = await place.waitFor();
      for (const secret of [old, textOf(fields, "secret")]) {
        assert.ok(isSignedBy(arrived, secret));
        assert.equal((await verifyWebhook({ ...arrived, secrets: secret })).type, "webhook.test");
      }
    },
    "J8-agent-403": async () => {
      const theirs = openWebhooks(baseUrl, agent.key);
      for (const route of ROUTES) {
        const [method = "", path = ""] = route.replace("UNKNOWN", UNKNOWN).split(" ");
        assertError(await theirs.ask(method, `/${made.id}${path}`), 403);
      }
      assertError(await theirs.ask("GET", "/"), 403);
      assertError(await theirs.ask("POST", "/", { url: "https://receiver.example/", events: ["*"] }), 403);
      assertError(await send(baseUrl, "/api/webhook-events", { key: agent.key }), 403);
    },
    "J8-agent-tools": async () => {
      const directory = join(world.scratch, "agent");
      const credentialsFile = await writeCredentials(directory, baseUrl, agent.key);
      await using tools = await startToolServer({ credentialsFile, folder: world.scratch, flags: [] });
      const names = await tools.toolNames();
      assert.ok(names.includes("file_upload"), names.join());
      assert.deepEqual(
        names.filter((name) => /webhook|event/.test(name)),
        [],
      );
    },
  };
}
