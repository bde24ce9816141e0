/** J10: a member is removed; what that ends, and what it does not. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { objectAt } from "../kit/account.ts";
import { failureCode, toolFailure } from "../kit/failures.ts";
import { send } from "../kit/http.ts";
import type { SharedPerson } from "../kit/shared-service.ts";
import { openWebhookSink, verifyArrived, type Receiver } from "../kit/webhook-sink.ts";
import { openWebhooks, type NewWebhook } from "../kit/webhooks.ts";
import { removesByCommand } from "./commands-shared.ts";
import { callAgreed } from "./own-tools.ts";
import type { Checks, SharedWorld } from "./run.ts";

/** Everything that the checks of this journey share. */
interface Scene {
  readonly world: SharedWorld;
  readonly owner: SharedPerson;
  readonly agent: SharedPerson;
  /** A second agent that is removed, and a member that stays. */
  readonly second: SharedPerson;
  readonly colleague: SharedPerson;
  readonly vaultId: string;
  readonly objectId: string;
  /** Before any removal. */
  readonly oldFile: string;
  /** After the first one: made when it is first asked for. */
  readonly newFile: () => Promise<string>;
  readonly receiver: Receiver;
  readonly webhook: NewWebhook;
  /** Runs from before the first removal on. */
  readonly loop: ReaderLoop;
}

export async function memberRemoved(world: SharedWorld): Promise<Checks> {
  const { service, cleanup } = world;
  const owner = await service.signUp();
  const vault = await owner.client.vaults.create({ name: "Team", type: "shared" });
  const [agent, second, colleague] = [
    await service.invite(owner),
    await service.invite(owner),
    await service.invite(owner),
  ];
  for (const { address } of [agent, second, colleague]) await owner.client.vaults.members.add(vault.id, address);
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  const webhook = await openWebhooks(service.baseUrl, owner.apiKey).create(receiver.url, ["vault.member_removed"]);
  const place = { vaultId: vault.id, objectId: vault.chainObjectId ?? "" };
  const oldFile = await upload(owner, vault.id, "old.txt");
  let made: Promise<string> | undefined;
  const newFile = (): Promise<string> => (made ??= upload(owner, vault.id, "new.txt"));
  const loop = cleanup.use(readAlong(colleague, oldFile));
  const people = { owner, agent, second, colleague };
  const scene: Scene = { world, ...people, ...place, oldFile, newFile, receiver, webhook, loop };
  const byPrograms = { ...removesByCommand(scene), ...removalByTool(scene) };
  return { ...byPrograms, ...removal(scene), ...(await afterwards(scene)), ...interrupted(scene) };
}

async function upload({ client }: SharedPerson, vaultId: string, name: string): Promise<string> {
  const body = new TextEncoder().encode(`content of ${name}`);
  return (await client.files.upload({ vaultId, name, body })).file.id;
}

async function textOf(client: SharedPerson["client"], fileId: string): Promise<string> {
  return new TextDecoder().decode(await (await client.files.download(fileId)).bytes());
}

function removal(scene: Scene): Checks {
  const { world, owner, agent, vaultId, objectId, receiver, webhook } = scene;
  const allowlist = () => world.service.chain.readVault(objectId, { maxAge: 0 });
  return {
    "J10-sdk-report": async () => {
      const before = await allowlist();
      const report = await owner.client.agents.revoke(agent.keyId);
      assert.deepEqual([report.keyId, report.chainAddress], [agent.keyId, agent.address]);
      const generation = before.generation + 1n;
      assert.deepEqual(report.memberships, [
        { vaultId, outcome: "removed", generation: Number(generation), warnings: [] },
      ]);
      const after = await allowlist();
      assert.equal(after.generation, generation);
      assert.ok(!after.members.some(({ chainAddress }) => chainAddress === agent.address));
      assert.equal((await send(world.service.baseUrl, "/api/account", { key: agent.apiKey })).status, 401);
    },
    "J10-webhook": async () => {
      const arrived = await receiver.waitFor(({ body }) => body.includes(agent.address));
      const { object } = objectAt(verifyArrived(arrived, webhook.secret), "data");
      const { vaultId: told, id } = objectAt({ object }, "object");
      assert.deepEqual([told, id], [vaultId, agent.address]);
    },
  };
}

/** What the removed agent can do: with a new key of its own, and with the bytes that an accomplice gives it. */
async function afterwards(scene: Scene): Promise<Checks> {
  const { world, owner, agent, colleague, vaultId, oldFile } = scene;
  const { baseUrl } = world.service;
  let apiKey = agent.apiKey;
  const warm = agent.another({}, { credentials: () => ({ apiKey }) });
  assert.equal(await textOf(warm, oldFile), "content of old.txt");
  let newKey = "";
  const withNewKey = async (): Promise<string> => {
    if (newKey !== "") return newKey;
    const { text } = await owner.client.invites.create({ name: "again", vaultIds: [vaultId] });
    const redeemed = await createClient({ baseUrl }).invites.redeem(text, agent.signer);
    return (newKey = redeemed.key);
  };
  return {
    "J10-warm-given": async () => {
      apiKey = owner.apiKey;
      assert.equal(await textOf(warm, oldFile), "content of old.txt");
    },
    "J10-fresh-client": async () => {
      const accomplice = { credentials: { apiKey: owner.apiKey } };
      for (const fileId of [oldFile, await scene.newFile()])
        assert.equal(await failureCode(textOf(agent.another({}, accomplice), fileId)), "not_a_member");
    },
    "J10-warm-new": async () => {
      apiKey = await withNewKey();
      assert.equal(await failureCode(textOf(warm, await scene.newFile())), "not_a_member");
      apiKey = owner.apiKey;
      assert.equal(await failureCode(textOf(warm, await scene.newFile())), "not_a_member");
    },
    "J10-warm-old": async () => {
      const key = await withNewKey();
      const answer = await send(baseUrl, `/api/files/${oldFile}/content`, { key });
      assert.equal(answer.status, 403);
      apiKey = key;
      assert.equal(await failureCode(textOf(warm, oldFile)), "not_a_member");
    },
    "J10-others-read": async () => {
      for (const { client } of [owner, colleague]) {
        assert.equal(await textOf(client, oldFile), "content of old.txt");
        assert.equal(await textOf(client, await scene.newFile()), "content of new.txt");
      }
    },
  };
}

/** By the owner's tools: a third agent, whose own tools ran before. */
function removalByTool({ world, owner, vaultId, objectId, oldFile }: Scene): Checks {
  const { service, scratch } = world;
  return {
    "J10-tools": async () => {
      const agent = await service.invite(owner, { vaultIds: [vaultId] });
      await owner.client.vaults.members.add(vaultId, agent.address);
      const folder = join(scratch, "third");
      await mkdir(folder);
      await using tools = await service.tools(agent, folder);
      const fetched = await tools.call("file_download", { files: [oldFile], dest: join(folder, "before.txt") });
      assert.equal(fetched.isError, false, fetched.wire);
      await using owners = await service.tools(owner, scratch);
      const { facts, wire } = await callAgreed(owners, "access_revoke", { who: agent.keyId });
      assert.deepEqual([facts["ended"], facts["memberships"]], ["key", 1], wire);
      const { members } = await service.chain.readVault(objectId, { maxAge: 0 });
      assert.ok(!members.some(({ chainAddress }) => chainAddress === agent.address));
      const wanted = { files: [oldFile], dest: join(folder, "after.txt") };
      assert.equal(toolFailure(await tools.call("file_download", wanted)).code, "signed_out");
      const { text } = await owner.client.invites.create({ name: "again", vaultIds: [vaultId] });
      const { key: apiKey } = await createClient({ baseUrl: service.baseUrl }).invites.redeem(text, agent.signer);
      await using again = await service.tools({ ...agent, apiKey }, folder);
      assert.equal(toolFailure(await again.call("file_download", wanted)).code, "not_a_member");
      assert.deepEqual(await readdir(folder), ["before.txt"]);
    },
  };
}

/** The owner's process dies after the chain has the removal, before the service has it. */
function interrupted({ world, owner, second, colleague, vaultId, objectId, loop }: Scene): Checks {
  const { service } = world;
  return {
    "J10-sdk-killed": async () => {
      const cut = ({ method, path }: { method: string; path: string }) =>
        method === "DELETE" && path.includes("/members/");
      const once = owner.another({}, { retry: { limit: 0 } });
      await service.tap.cutting(cut, () => assert.rejects(once.agents.revoke(second.keyId)));
      const between = await service.chain.readVault(objectId, { maxAge: 0 });
      assert.ok(!between.members.some(({ chainAddress }) => chainAddress === second.address));
      await upload(colleague, vaultId, "between.txt");
      const { memberships } = await owner.another().agents.revoke(second.keyId);
      assert.deepEqual(memberships, [
        { vaultId, outcome: "absent", generation: Number(between.generation), warnings: [] },
      ]);
      const listed = (await owner.client.vaults.members.list(vaultId)).items;
      assert.deepEqual(
        listed.map(({ chainAddress }) => chainAddress),
        [owner.address, colleague.address],
      );
      await upload(colleague, vaultId, "after.txt");
    },
    "J10-reader-loop": async () => {
      const { unread, reads } = await loop.end();
      assert.deepEqual(unread, []);
      assert.ok(reads > 10, `${reads} reads`);
    },
  };
}

interface ReaderLoop extends AsyncDisposable {
  /** Stops it and says how often it read, and with what errors it did not. */
  end(): Promise<{ readonly reads: number; readonly unread: readonly unknown[] }>;
}

/** Reads a file again and again: each time as a process that remembers nothing, or as one that remembers all. */
function readAlong(colleague: SharedPerson, fileId: string): ReaderLoop {
  const unread: unknown[] = [];
  let reads = 0;
  let isOver = false;
  const loop = (async () => {
    while (!isOver) {
      const client = reads % 2 === 0 ? colleague.another() : colleague.client;
      await textOf(client, fileId).then(
        () => (reads += 1),
        (error: unknown) => unread.push(error),
      );
    }
  })();
  const end = async () => {
    isOver = true;
    await loop;
    return { reads, unread };
  };
  return { end, [Symbol.asyncDispose]: () => end().then(() => undefined) };
}
