/** J4: an agent redeems its invite. */
import { createClient, toRequest, type Transport } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../kit/coffer-program.ts";
import { assertError, createKey, fieldsOf, objectAt, revokeKey, signUp, type NewAccount } from "../kit/account.ts";
import { newChainKey, type ChainKey } from "../kit/chain.ts";
import { filesHolding, querySql, runSql } from "../kit/data-directory.ts";
import { send, type Answer } from "../kit/http.ts";
import { parseObject, textOf, type Stack } from "../kit/stack.ts";
import { startToolServer, TOOL_SERVER } from "../kit/tool-server.ts";
import { openWebhookSink, verifyArrived, type Receiver } from "../kit/webhook-sink.ts";
import { openWebhooks, type NewWebhook } from "../kit/webhooks.ts";
import { joinsByCommand } from "./commands.ts";
import type { Checks, World } from "./run.ts";

/** Each time takes two signatures, two redeems and a revocation. */
const TIMES = process.env["COFFER_TEST_COUNTS"] === "full" ? 100 : 15;

/** Everything that the checks of this journey share. */
interface Scene {
  readonly stack: Stack;
  readonly owner: NewAccount;
  readonly rights: { readonly scopes: readonly string[]; readonly vaultIds: readonly string[] };
  readonly chain: ChainKey;
  readonly code: string;
  /** All that the SDK sent and got in this journey. */
  readonly wire: string[];
  /** Where the owner hears of redeemed invites. */
  readonly receiver: Receiver;
  readonly webhook: NewWebhook;
}

export async function agentRedeems({ stack, scratch, cleanup }: World): Promise<Checks> {
  const owner = await signUp(stack.baseUrl);
  const created = await send(stack.baseUrl, "/api/vaults", {
    method: "POST",
    key: owner.apiKey,
    body: { name: "V", type: "public" },
  });
  const rights = {
    scopes: ["files:read", "files:write"],
    vaultIds: [textOf(objectAt(fieldsOf(created), "vault"), "id")],
  };
  const code = await invite(stack, owner, rights);
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  const webhook = await openWebhooks(stack.baseUrl, owner.apiKey).create(receiver.url, ["invite.redeemed"]);
  const scene: Scene = { stack, owner, rights, chain: newChainKey(stack.baseUrl), code, wire: [], receiver, webhook };
  const byCommand = joinsByCommand({ baseUrl: stack.baseUrl, scratch });
  return {
    ...byCommand,
    ...joinsByTool(scene, scratch),
    ...firstRedeem(scene),
    ...refusals(scene),
    ...levels(scene),
    ...privateKey(scene),
  };
}

/** The tool server's own command, and what an agent sees of it then. */
function joinsByTool({ stack, owner, rights }: Scene, scratch: string): Checks {
  return {
    "J4-tools": async () => {
      const directory = join(scratch, "joining");
      await mkdir(directory);
      const codeFile = join(directory, "invite.txt");
      await writeFile(codeFile, await invite(stack, owner, rights), { mode: 0o600 });
      const env = { HOME: directory, SERVICE_CONFIG_DIR: directory };
      const words = ["join", "--code-file", codeFile, "--base-url", stack.baseUrl];
      const { code, out, err } = await runProgram(words, { env, program: TOOL_SERVER });
      assert.equal(code, 0, err);
      const credentialsFile = join(directory, "config.json");
      const environment = { SERVICE_CONFIG_DIR: directory };
      await using tools = await startToolServer({ credentialsFile, folder: scratch, environment });
      const { facts, wire } = await tools.call("status_check");
      const saved = objectAt(objectAt(parseObject(await readFile(credentialsFile, "utf8")), "profiles"), "default");
      const answer = await send(stack.baseUrl, "/api/account", { key: textOf(saved, "apiKey") });
      const address = textOf(objectAt(fieldsOf(answer), "credential"), "chainAddress");
      assert.deepEqual(
        [facts["signedIn"], facts["accessLevel"], facts["chainAddress"]],
        [true, "agent", address],
        wire,
      );
      assert.deepEqual(objectAt(facts, "key")["vaultIds"], rights.vaultIds, wire);
      assert.ok(out.includes(address), out);
    },
  };
}

async function invite(stack: Stack, owner: NewAccount, rights: object = {}): Promise<string> {
  const call = { method: "POST", key: owner.apiKey, body: { name: "bot", ...rights } };
  return textOf(fieldsOf(await send(stack.baseUrl, "/api/auth/invites", call)), "code");
}

function redeem({ stack }: Scene, body: object): Promise<Answer> {
  return send(stack.baseUrl, "/api/auth/invites/redeem", { method: "POST", body });
}

function firstRedeem(scene: Scene): Checks {
  const { stack, owner, rights, chain, code, wire } = scene;
  const { baseUrl } = stack;
  return {
    "J4-account": async () => {
      const answer = await redeem(scene, await chain.redeeming(code));
      assert.equal(answer.status, 201);
      const key = textOf(fieldsOf(answer), "key");
      const { account, credential } = fieldsOf(await send(baseUrl, "/api/account", { key }));
      const mine = objectAt({ credential }, "credential");
      assert.equal(objectAt({ account }, "account")["accessLevel"], "agent");
      assert.equal(mine["chainAddress"], chain.address);
      assert.notEqual(objectAt({ account }, "account")["chainAddress"], chain.address);
      assert.deepEqual([mine["scopes"], mine["vaultIds"]], [rights.scopes, rights.vaultIds]);
    },
    "J4-sdk-redeem": async () => {
      const transport = recording(wire);
      const owned = createClient({ baseUrl, credentials: { apiKey: owner.apiKey }, transport });
      const { text, id } = await owned.invites.create({ name: "by the SDK" });
      const secret = text.slice(text.indexOf(".") + 1);
      assert.ok(secret.length >= 16 && text.startsWith("cofi_"), "no secret in the invite's text");
      const agent = newChainKey(baseUrl);
      const redeemed = await createClient({ baseUrl, transport }).invites.redeem(text, agent.signer);
      assert.deepEqual([redeemed.accessLevel, redeemed.chainAddress], ["agent", agent.address]);
      assert.ok(!wire.join("\n").includes(secret), "the secret was sent");
      const listed = (await owned.invites.list()).invites.find((one) => one.id === id);
      assert.ok(
        listed !== undefined && (await owned.invites.checkAddressProof(text, listed)),
        "no proof of the address",
      );
      assertNowhere(wire.join("\n"), agent);
    },
    "J4-webhook": async () => {
      const arrived = await scene.receiver.waitFor(({ body }) => body.includes(chain.address));
      const { object } = objectAt(verifyArrived(arrived, scene.webhook.secret), "data");
      const { type, keyId, chainAddress } = objectAt({ object }, "object");
      assert.deepEqual([type, chainAddress], ["invite", chain.address]);
      const bound = await querySql(
        stack.dataDirectory,
        "SELECT id FROM api_keys WHERE chain_address = ?",
        chain.address,
      );
      assert.deepEqual(
        bound.map(({ id }) => id),
        [keyId],
      );
      assert.ok(!arrived.body.includes(code) && !/cofi?_/.test(arrived.body), "a code or a key was sent");
    },
    "J4-second-redeem": async () => assertError(await redeem(scene, await chain.redeeming(code)), 410),
  };
}

/** Notes every byte that an SDK client sends and gets. */
function recording(wire: string[]): Transport {
  return async (outgoing) => {
    const request = toRequest(outgoing);
    wire.push(request.url, JSON.stringify([...request.headers]), await request.clone().text());
    const response = await fetch(request);
    wire.push(JSON.stringify([...response.headers]), await response.clone().text());
    return response;
  };
}

function refusals(scene: Scene): Checks {
  const { stack, owner } = scene;
  const contest = async (): Promise<void> => {
    const code = await invite(stack, owner);
    const agents = [newChainKey(stack.baseUrl), newChainKey(stack.baseUrl)];
    const bodies = await Promise.all(agents.map((agent) => agent.redeeming(code)));
    const answers = await Promise.all(bodies.map((body) => redeem(scene, body)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 410]);
    const bound = "SELECT id FROM api_keys WHERE chain_address IN (?, ?)";
    const keys = await querySql(stack.dataDirectory, bound, ...agents.map(({ address }) => address));
    assert.equal(keys.length, 1);
    assert.equal((await revokeKey(stack.baseUrl, owner.apiKey, String(keys[0]?.["id"]))).status, 204);
  };
  return {
    "J4-parallel": async () => {
      for (let times = 0; times < TIMES; times += 1) await contest();
    },
    "J4-expired": async () => {
      const code = await invite(stack, owner);
      const hash = createHash("sha256").update(code).digest("hex");
      // An hour passes: the clock of a running stack cannot be moved, so its row is.
      const age = "UPDATE invites SET expires_at = ? WHERE hash = ?";
      await runSql(stack.dataDirectory, age, Date.now() - 1, hash);
      assertError(await redeem(scene, await newChainKey(stack.baseUrl).redeeming(code)), 410);
    },
    "J4-revoked": async () => {
      const call = { method: "POST", key: owner.apiKey, body: { name: "gone" } };
      const fields = fieldsOf(await send(stack.baseUrl, "/api/auth/invites", call));
      const path = `/api/auth/invites/${textOf(fields, "id")}`;
      assert.equal((await send(stack.baseUrl, path, { method: "DELETE", key: owner.apiKey })).status, 204);
      const body = await newChainKey(stack.baseUrl).redeeming(textOf(fields, "code"));
      assertError(await redeem(scene, body), 410);
    },
    "J4-replay": async () => {
      const body = await newChainKey(stack.baseUrl).redeeming(await invite(stack, owner));
      const chainAddress = newChainKey(stack.baseUrl).address;
      assertError(await redeem(scene, { ...body, chainAddress }), 400);
      assert.equal((await redeem(scene, body)).status, 201);
    },
  };
}

function levels({ stack, owner }: Scene): Checks {
  return {
    "J4-owner-address": async () => {
      const chain = newChainKey(stack.baseUrl);
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: owner.apiKey } });
      assert.equal((await client.account.linkChain(chain.signer)).chainAddress, chain.address);
      const bound = { name: "own", chainAddress: chain.address };
      const { key } = await createKey(stack.baseUrl, owner.apiKey, bound);
      const account = objectAt(fieldsOf(await send(stack.baseUrl, "/api/account", { key })), "account");
      assert.equal(account["accessLevel"], "owner");
    },
  };
}

function privateKey({ stack, chain, wire }: Scene): Checks {
  return {
    "J4-no-private-key": async () => {
      assert.ok(wire.length > 0);
      assertNowhere(wire.join("\n") + stack.printed(), chain);
      for (const form of chain.secretForms) assert.deepEqual(await filesHolding(stack.dataDirectory, form), []);
    },
  };
}

function assertNowhere(text: string, chain: ChainKey): void {
  for (const form of chain.secretForms) assert.ok(!text.includes(form), "the private key is on the wire");
}
