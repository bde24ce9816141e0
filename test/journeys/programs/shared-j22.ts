/** J22: access that ends by itself. The chain, the service and the clients have one clock of this journey's own, which it moves. */
import { END_STEP } from "@coffer/contract";
import { chainKeySigner, createClient, generateChainKey, type Client } from "@coffer/sdk";
import { sharedVaults } from "@coffer/sdk/shared";
import { nodePlatform } from "@coffer/crypto/node";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openSharedStack, type SharedPerson, type SharedStack } from "../../kit/shared-stack.ts";
import { objectAt } from "../kit/account.ts";
import { clockAhead } from "../kit/clock-ahead.ts";
import { failureCode, toolFailure } from "../kit/failures.ts";
import { send } from "../kit/http.ts";
import { startToolServer, writeCredentials, type ToolServer } from "../kit/tool-server.ts";
import { openWebhookSink, type Receiver } from "../kit/webhook-sink.ts";
import { openWebhooks } from "../kit/webhooks.ts";
import { endsByCommand } from "./commands-shared-files.ts";
import { callAgreed } from "./own-tools.ts";
import type { Checks, SharedWorld } from "./run.ts";

class MovedClock {
  #ahead = 0;
  readonly now = (): number => Date.now() + this.#ahead;

  /** Of this machine's clock, in milliseconds. */
  get ahead(): number {
    return this.#ahead;
  }

  passTo(time: number): void {
    this.#ahead += Math.max(0, time - this.now());
  }
}

interface Scene {
  readonly stack: SharedStack;
  readonly clock: MovedClock;
  readonly vaultId: string;
  readonly fileId: string;
  /** Of the agent and the first colleague. */
  readonly end: number;
  readonly agent: { readonly client: Client; readonly apiKey: string; readonly address: string };
  readonly colleague: SharedPerson;
  /** The colleague's, with keys that it has opened before the end; the service takes it for the owner's. */
  readonly warm: Client;
  /** An agent of the owner's, who has access by the owner's tools until the same end. */
  readonly hired: SharedPerson;
  /** Another account, which has access by the owner's commands until the same end. */
  readonly guest: SharedPerson;
  /** Its end is moved. */
  readonly kept: SharedPerson;
  readonly receiver: Receiver;
}

const textOf = (time: number): string => new Date(time).toISOString();
const PIECE = 1024 * 1024;

export async function accessUntil(world: SharedWorld): Promise<Checks> {
  const { cleanup } = world;
  const clock = new MovedClock();
  const stack = cleanup.use(await openSharedStack({ clock: clock.now }));
  const { client: owner, apiKey } = stack.owner;
  const [colleague, kept] = [await stack.signUp("colleague"), await stack.signUp("kept")];
  const { id: vaultId } = await owner.vaults.create({ name: "Books", type: "shared" });
  const body = Buffer.alloc(24 * PIECE, 7);
  const { file } = await owner.files.upload({ vaultId, name: "large.bin", body });
  const receiver = cleanup.use(await openWebhookSink()).receiver();
  await openWebhooks(stack.baseUrl, apiKey).create(receiver.url, ["vault.member_ended"]);
  const end = Math.ceil((clock.now() + 60_000) / END_STEP) * END_STEP;
  const { agent, checks } = await invited({ stack, clock, vaultId, end });
  const warm = colleague.another({ credentials: { apiKey } });
  const people = {
    agent,
    colleague,
    warm,
    kept,
    hired: await stack.invite("hired"),
    guest: await stack.signUp("guest"),
  };
  const scene: Scene = { stack, clock, vaultId, fileId: file.id, end, ...people, receiver };
  const tools = await byTools(world, scene);
  const guest = { guest: scene.guest, vaultId, end: textOf(end), ahead: () => clock.ahead };
  const commands = await endsByCommand(world, stack, guest);
  return {
    ...checks,
    ...before(scene),
    ...tools,
    ...commands,
    ...underWay(scene),
    ...afterwards(scene),
    ...moved(scene),
  };
}

async function invited({ stack, clock, vaultId, end }: Pick<Scene, "stack" | "clock" | "vaultId" | "end">) {
  const owner = stack.owner.client;
  const invite = await owner.invites.create({ name: "Books", vaultIds: [vaultId], accessUntil: textOf(end) });
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const redeemed = await createClient({ baseUrl: stack.baseUrl }).invites.redeem(invite.text, signer);
  const opened = sharedVaults({ signer, network: stack.network, platform: nodePlatform, clock: clock.now });
  const client = createClient({ baseUrl: stack.baseUrl, credentials: { apiKey: redeemed.key }, sharedVaults: opened });
  const checks: Checks = {
    "J22-invite": async () => {
      assert.equal(redeemed.expiresAt, textOf(end));
      const member = await owner.vaults.members.add(vaultId, { invite: invite.text });
      assert.deepEqual([member.chainAddress, member.endsAt], [signer.chainAddress, textOf(end)]);
    },
  };
  return { agent: { client, apiKey: redeemed.key, address: signer.chainAddress }, checks };
}

/** A member by the owner's tools, with tools of its own. These are programs that have the journey's clock as it is when they start. */
async function byTools(
  { cleanup, scratch }: SharedWorld,
  {
    stack,
    clock,
    vaultId,
    fileId,
    end,
    hired,
  }: Pick<Scene, "stack" | "clock" | "vaultId" | "fileId" | "end" | "hired">,
): Promise<Checks> {
  const networkFile = join(scratch, "network.json");
  await writeFile(networkFile, JSON.stringify(stack.localnet.network()), { mode: 0o600 });
  const open = async (name: string, { apiKey, privateKey }: SharedPerson): Promise<ToolServer> => {
    const directory = join(scratch, name);
    const profile = { chainPrivateKey: privateKey, networkFile };
    const credentialsFile = await writeCredentials(directory, stack.baseUrl, apiKey, profile);
    const moved = join(directory, "clock.mjs");
    await writeFile(moved, clockAhead(clock.ahead));
    const environment = { SERVICE_CONFIG_DIR: directory, NODE_OPTIONS: `--import=${moved}` };
    return cleanup.use(await startToolServer({ credentialsFile, folder: scratch, environment }));
  };
  return {
    "J22-tools": async () => {
      const tools = await open("hired", hired);
      const chainAddress = hired.signer.chainAddress;
      const given = { name: "hired", vaultIds: [vaultId], chainAddress, until: textOf(end) };
      await callAgreed(await open("owner", stack.owner), "access_grant", given);
      // First: the answer of the other names people of another account, after which a user has to agree to what it writes.
      const wrote = await tools.call("file_write", { vaultId, name: "by the hired", text: "h" });
      assert.equal(wrote.isError, false, wrote.wire);
      const { facts, wire } = await tools.call("vault_access_check", { vaultId });
      assert.equal(Date.parse(String(facts["ends"])), end, wire);
    },
    "J22-tools-ended": async () => {
      const tools = await open("hired", hired);
      const dest = join(scratch, "late.bin");
      const calls = { file_write: { vaultId, name: "too late", text: "h" }, file_download: { files: [fileId], dest } };
      for (const [tool, given] of Object.entries(calls)) {
        const answer = await tools.call(tool, given);
        assert.deepEqual([tool, toolFailure(answer).code], [tool, "membership_ended"], answer.wire);
      }
      assert.ok(!existsSync(dest));
      const { files } = await stack.owner.client.files.list({ vaultId });
      assert.ok(files.some(({ name }) => name === "by the hired") && !files.some(({ name }) => name === "too late"));
    },
  };
}

function before({ stack, vaultId, fileId, end, agent, colleague, warm, kept }: Scene): Checks {
  return {
    "J22-before": async () => {
      const { members } = stack.owner.client.vaults;
      const signingKey = colleague.signer.statements.publicKey;
      await members.add(vaultId, colleague.signer.chainAddress, { until: textOf(end), signingKey });
      await members.add(vaultId, kept.signer.chainAddress, { until: textOf(end) });
      for (const client of [agent.client, colleague.client, kept.client]) {
        assert.equal((await (await client.files.download(fileId)).bytes()).length, 24 * PIECE);
        assert.equal((await client.vaults.checkAccess(vaultId)).endsAt, textOf(end));
      }
      assert.equal((await (await warm.files.download(fileId)).bytes()).length, 24 * PIECE);
      await agent.client.files.upload({ vaultId, name: "from the agent", body: "a" });
      const ends = (await members.list(vaultId)).items.map(({ endsAt }) => endsAt);
      assert.deepEqual(ends, [null, textOf(end), textOf(end), textOf(end)]);
    },
  };
}

/** What the colleague does while its end comes. The end of the one that is kept is put off five seconds before. */
function underWay({ stack, clock, vaultId, fileId, end, colleague, kept }: Scene): Checks {
  const reached = Promise.withResolvers<undefined>();
  let uploading: Promise<string> | undefined;
  return {
    "J22-stream": async () => {
      uploading = failureCode(colleague.client.files.upload({ vaultId, name: "late", body: waiting(reached.promise) }));
      const headers = { authorization: `Bearer ${colleague.apiKey}` };
      const answer = await fetch(`${stack.baseUrl}/api/files/${fileId}/content`, { headers });
      // A refusal has a body, too, and nobody cuts it.
      if (!answer.ok) assert.fail(`${String(answer.status)} ${await answer.text()}`);
      const reader = answer.body?.getReader();
      assert.ok(reader !== undefined && (await reader.read()).value !== undefined);
      clock.passTo(end - 5_000);
      await stack.owner.client.vaults.members.setUntil(vaultId, kept.signer.chainAddress, textOf(end + 4 * END_STEP));
      clock.passTo(end);
      reached.resolve(undefined);
      // Ten seconds, and what a busy machine needs to notice that they are over.
      await pause(13_000);
      const rest = async (): Promise<void> => {
        while (!(await reader.read()).done);
      };
      await assert.rejects(rest(), TypeError);
    },
    "J22-upload": async () => {
      const code = (await uploading) ?? "";
      assert.ok(["membership_ended", "generation_moved"].includes(code), code);
      const { files } = await stack.owner.client.files.list({ vaultId });
      assert.ok(!files.some(({ name }) => name === "late"));
    },
  };
}

async function* waiting(until: Promise<undefined>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(PIECE);
  await until;
  yield new Uint8Array(PIECE);
}

function afterwards({ stack, vaultId, fileId, end, agent, colleague, hired, guest, warm, receiver }: Scene): Checks {
  const { baseUrl, owner } = stack;
  const accomplice = { credentials: { apiKey: owner.apiKey } };
  return {
    "J22-key": async () => {
      assert.equal((await send(baseUrl, "/api/account", { key: agent.apiKey })).status, 401);
    },
    "J22-service": async () => {
      for (const path of [
        `/api/files/${fileId}/content`,
        `/api/vaults/${vaultId}/keys`,
        `/api/files?vaultId=${vaultId}`,
      ]) {
        const answer = await send(baseUrl, path, { key: colleague.apiKey });
        assert.deepEqual([path, answer.status, JSON.stringify(answer.json()).includes(textOf(end))], [path, 403, true]);
      }
      const { chain } = await colleague.another().vaults.checkAccess(vaultId);
      assert.equal(chain.cause, "membership_ended");
      assert.ok(chain.nextStep.startsWith(`Your access ended at ${textOf(end)}: ask the vault's owner`));
    },
    "J22-key-servers": async () => {
      assert.equal(await failureCode(colleague.another(accomplice).files.download(fileId)), "membership_ended");
    },
    "J22-owner": async () => {
      const { file } = await owner.client.files.upload({ vaultId, name: "afterwards", body: "new" });
      assert.equal(await (await owner.another().files.download(file.id)).bytes().then(String), "110,101,119");
      assert.equal(await failureCode(colleague.another(accomplice).files.download(file.id)), "membership_ended");
      assert.equal(await failureCode(warm.files.download(file.id)), "membership_ended");
    },
    "J22-event": async () => {
      const members = [colleague, hired, guest].map(({ signer }) => signer.chainAddress);
      const addresses = [agent.address, ...members];
      for (const address of addresses) {
        const arrived = await receiver.waitFor(({ body }) => body.includes(address));
        const { object } = objectAt(JSON.parse(arrived.body) as Record<string, unknown>, "data");
        assert.deepEqual(object, { type: "vault_member", id: address, vaultId, endsAt: textOf(end) });
      }
      assert.equal(receiver.arrived.length, addresses.length);
    },
  };
}

function moved({ stack, clock, vaultId, fileId, end, colleague, kept }: Scene): Checks {
  const { members } = stack.owner.client.vaults;
  const reads = async ({ client }: SharedPerson): Promise<number> =>
    (await (await client.files.download(fileId)).bytes()).length;
  return {
    "J22-extended": async () => {
      assert.equal(await reads(kept), 24 * PIECE);
      const late = members.setUntil(vaultId, colleague.signer.chainAddress, textOf(end + END_STEP));
      assert.equal(await failureCode(late), "membership_ended");
    },
    "J22-shortened": async () => {
      const { generation } = await members.setUntil(vaultId, kept.signer.chainAddress, textOf(end + END_STEP));
      assert.equal(generation, 2);
      assert.equal(await reads(kept), 24 * PIECE);
      clock.passTo(end + END_STEP);
      assert.equal(await failureCode(reads(kept)), "membership_ended");
    },
    "J22-again": async () => {
      const { endsAt } = await members.add(vaultId, colleague.signer.chainAddress);
      assert.equal(endsAt, null);
      assert.equal(await reads(colleague), 24 * PIECE);
    },
    "J22-nodes": async () => {
      const last = end + 3 * END_STEP;
      await members.setUntil(vaultId, colleague.signer.chainAddress, textOf(last));
      const nodes = [await stack.localnet.openNode({ lag: -20_000 }), await stack.localnet.openNode({ lag: 20_000 })];
      const seen = () =>
        Promise.all(
          nodes.map(async ({ url: grpcUrl }) => {
            const client = colleague.another({ shared: { network: { ...stack.network, grpcUrl } } });
            return (await client.vaults.checkAccess(vaultId)).chain.cause;
          }),
        );
      clock.passTo(last - 10_000);
      assert.deepEqual(await seen(), ["membership_ended", null]);
      clock.passTo(last + 20_000);
      assert.deepEqual(await seen(), ["membership_ended", "membership_ended"]);
    },
  };
}
