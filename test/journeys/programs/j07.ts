/** J7: an agent uploads and downloads through MCP, over public vaults. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKey, fieldsOf, fileNames, objectAt, signUp } from "../kit/account.ts";
import { send } from "../kit/http.ts";
import { startProxy, type Proxy } from "../kit/proxy.ts";
import type { Checks, World } from "./run.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { textOf } from "../kit/stack.ts";
import { openWebhookSink, verifyArrived, type Receiver } from "../kit/webhook-sink.ts";
import { openWebhooks, type NewWebhook } from "../kit/webhooks.ts";
import { startToolServer, writeCredentials, type ToolAnswer, type ToolServer } from "../kit/tool-server.ts";
import { callAgreed } from "./own-tools.ts";

const MIB = 1024 * 1024;
/** Unusual enough never to occur by chance; in file contents only. */
const CANARY = "canary-7d1f0c-of-the-content";

/** Everything that the checks of this journey share. */
interface Scene {
  readonly world: World;
  readonly tools: ToolServer;
  /** Another one, which has shown no text of others: what its host's user agrees to counts. */
  readonly open: () => Promise<ToolServer>;
  readonly proxy: Proxy;
  readonly agentKey: string;
  readonly vaultId: string;
  /** The folder the tools may touch, and one beside it that they may not. */
  readonly inside: string;
  readonly outside: string;
  /** Where the owner hears of uploads. */
  readonly receiver: Receiver;
  readonly webhook: NewWebhook;
}

export async function agentTransfers(world: World): Promise<Checks> {
  const scene = await openScene(world);
  const { transferred, checks } = transfers(scene);
  return {
    ...checks,
    ...destinations(scene, transferred),
    ...refusedSources(scene),
    ...repeatsAndFaults(scene, transferred),
    "J7-quota": () => checkQuota(world, scene.inside),
  };
}

async function openScene(world: World): Promise<Scene> {
  const { stack, scratch, cleanup } = world;
  const [inside, outside] = [join(scratch, "inside"), join(scratch, "outside")];
  await Promise.all([mkdir(inside), mkdir(outside)]);
  const body = { name: "Agent's vault", type: "public" };
  const created = await send(stack.baseUrl, "/api/vaults", { method: "POST", key: stack.apiKey, body });
  assert.equal(created.status, 201);
  const vaultId = textOf(objectAt(fieldsOf(created), "vault"), "id");
  const { key: agentKey } = await createKey(stack.baseUrl, stack.apiKey, { name: "agent", vaultIds: [vaultId] });
  const proxy = cleanup.use(await startProxy(stack.baseUrl));
  const credentialsFile = await writeCredentials(join(scratch, "agent"), proxy.baseUrl, agentKey);
  const open = (): Promise<ToolServer> => startToolServer({ credentialsFile, folder: inside });
  const tools = cleanup.use(await open());
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  const webhook = await openWebhooks(stack.baseUrl, stack.apiKey).create(receiver.url, ["file.uploaded"]);
  return { world, tools, open, proxy, agentKey, vaultId, inside, outside, receiver, webhook };
}

interface Transferred {
  fileId: string;
  readonly content: Uint8Array;
  readonly sha256: string;
}

function transfers({ world: { stack }, tools, vaultId, inside, receiver, webhook }: Scene): {
  transferred: Transferred;
  checks: Checks;
} {
  const content = Buffer.concat([Buffer.from(CANARY), randomBytes(5 * MIB - CANARY.length)]);
  const transferred: Transferred = { fileId: "", content, sha256: sha256(content) };
  const checks: Checks = {
    "J7-upload-receipt": async () => {
      const path = join(inside, "five.bin");
      await writeFile(path, content);
      const answer = await tools.call("file_upload", { paths: [path], vaultId });
      assert.equal(answer.isError, false, answer.wire);
      assert.equal(answer.facts["bytes"], content.length);
      assert.equal(answer.facts["sha256"], transferred.sha256);
      transferred.fileId = textOf(answer.facts, "fileId");
    },
    "J7-owner-download": async () => {
      const answer = await send(stack.baseUrl, `/api/files/${transferred.fileId}/content`, { key: stack.apiKey });
      assert.equal(answer.status, 200);
      assert.equal(sha256(answer.bytes), transferred.sha256);
    },
    "J7-webhook": async () => {
      const arrived = await receiver.waitFor(({ body }) => body.includes(transferred.fileId));
      const { object } = objectAt(verifyArrived(arrived, webhook.secret), "data");
      const { id, size } = objectAt({ object }, "object");
      assert.deepEqual([id, size], [transferred.fileId, content.length]);
    },
    "J7-sdk-download": async () => {
      const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: stack.apiKey } });
      const { stream } = await client.files.download(transferred.fileId);
      const hash = createHash("sha256");
      for await (const chunk of stream) hash.update(chunk);
      assert.equal(hash.digest("hex"), transferred.sha256);
    },
  };
  return { transferred, checks };
}

function destinations({ tools, open, inside }: Scene, transferred: Transferred): Checks {
  const destPath = join(inside, "back.bin");
  const download = (more: object = {}): Promise<ToolAnswer> =>
    tools.call("file_download", { files: [transferred.fileId], dest: destPath, ...more });
  return {
    "J7-download-receipt": async () => {
      const answer = await download();
      assert.equal(answer.isError, false, answer.wire);
      assert.equal(answer.facts["bytes"], transferred.content.length);
      assert.equal(answer.facts["sha256"], transferred.sha256);
      assert.ok(textOf(answer.facts, "path").includes("back.bin"), answer.wire);
      assert.equal(sha256(await readFile(destPath)), transferred.sha256);
    },
    "J7-download-mode": async () => {
      assert.equal((await stat(destPath)).mode & 0o777, 0o600);
    },
    "J7-existing-refused": async () => {
      await writeFile(destPath, "mine");
      assertFailure(await download(), "destination_exists");
      assert.equal(await readFile(destPath, "utf8"), "mine");
    },
    "J7-overwrite": async () => {
      assertFailure(await download({ ifExists: "replace" }), "confirmation_required");
      assert.equal(await readFile(destPath, "utf8"), "mine");
      await using agreeing = await open();
      const wanted = { files: [transferred.fileId], dest: destPath, ifExists: "replace" };
      await callAgreed(agreeing, "file_download", wanted);
      assert.equal(sha256(await readFile(destPath)), transferred.sha256);
    },
  };
}

function refusedSources({ world: { stack }, tools, vaultId, inside, outside }: Scene): Checks {
  const refused = async (path: string): Promise<void> => {
    assertFailure(await tools.call("file_upload", { paths: [path], vaultId, name: "stolen.txt" }), "path_not_allowed");
  };
  const secret = join(outside, "secret.txt");
  return {
    "J7-outside-refused": async () => {
      await writeFile(secret, CANARY);
      await refused(secret);
      const answer = await tools.call("file_download", { files: [vaultId], dest: join(outside, "new.bin") });
      assertFailure(answer, "path_not_allowed");
    },
    "J7-dotdot-refused": () => refused(`${inside}/../outside/secret.txt`),
    "J7-symlink-folder-refused": async () => {
      await symlink(outside, join(inside, "door"));
      await refused(join(inside, "door", "secret.txt"));
    },
    "J7-symlink-last-refused": async () => {
      await symlink(join(inside, "five.bin"), join(inside, "alias.bin"));
      await refused(join(inside, "alias.bin"));
    },
    "J7-nothing-read": async () => {
      assert.deepEqual(
        await fileNames(stack.baseUrl, stack.apiKey).then((names) => names.filter((name) => name === "stolen.txt")),
        [],
      );
    },
  };
}

function repeatsAndFaults(scene: Scene, transferred: Transferred): Checks {
  const { world, tools, proxy, agentKey, vaultId, inside } = scene;
  return {
    "J7-no-canary": async () => {
      for (const secret of [agentKey, CANARY]) assert.ok(!tools.stream().includes(secret), "a secret is in the stream");
      const base64 = Buffer.from(CANARY).toString("base64").slice(0, 24);
      assert.ok(!tools.stream().includes(base64), "the content is in the stream, in base64");
      return Promise.resolve();
    },
    "J7-idempotency": async () => {
      const path = join(inside, "once.bin");
      await writeFile(path, randomBytes(1000));
      const call = { paths: [path], vaultId, ifExists: "rename", idempotencyKey: "journey-7" };
      const [first, second] = [await tools.call("file_upload", call), await tools.call("file_upload", call)];
      assert.equal(second.isError, false, second.wire);
      assert.equal(second.facts["fileId"], first.facts["fileId"]);
      const names = await fileNames(world.stack.baseUrl, world.stack.apiKey);
      assert.equal(names.filter((name) => name.startsWith("once")).length, 1, names.join());
    },
    "J7-corrupt-download": async () => {
      proxy.damageContents();
      const destPath = join(inside, "damaged.bin");
      assertFailure(
        await tools.call("file_download", { files: [transferred.fileId], dest: destPath }),
        "integrity_failed",
      );
      assert.equal(existsSync(destPath), false);
    },
  };
}

/** A server with a small plan, and a proxy that counts what is sent to it. */
async function checkQuota({ scratch }: World, inside: string): Promise<void> {
  await using server = await startServerProcess({
    SERVICE_ENV: "development",
    SERVICE_DATA_DIR: join(scratch, "small"),
    SERVICE_PRO_STORAGE_BYTES: String(4 * MIB),
  });
  await using proxy = await startProxy(server.baseUrl);
  const owner = await signUp(server.baseUrl);
  const credentialsFile = await writeCredentials(join(scratch, "small-agent"), proxy.baseUrl, owner.apiKey);
  await using tools = await startToolServer({ credentialsFile, folder: inside });
  const vaults = await send(server.baseUrl, "/api/vaults", { key: owner.apiKey });
  const vaultId = /"id":"([^"]+)"/.exec(new TextDecoder().decode(vaults.bytes))?.[1];
  const answer = await tools.call("file_upload", { paths: [join(inside, "five.bin")], vaultId });
  assertFailure(answer, "storage_quota");
  assert.ok(proxy.bodyBytes() < 64 * 1024, `${proxy.bodyBytes()} bytes were sent`);
  assert.deepEqual(await fileNames(server.baseUrl, owner.apiKey), []);
}

function assertFailure(answer: ToolAnswer, code: string): void {
  assert.equal(answer.isError, true, answer.wire);
  assert.equal(objectAt(answer.facts, "error")["code"], code, answer.wire);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
