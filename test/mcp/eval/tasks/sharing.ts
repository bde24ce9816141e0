/** Who has access, and what goes out. */
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { said, cell } from "../agent.ts";
import { defineTask, type EvalTask } from "../task.ts";
import { contentOf, storeTree } from "../truth.ts";
import type { World } from "../world.ts";

const unmarked = (value: unknown): string => String(value).replaceAll(/<\/?[\w-]{8}>/g, "");

/** A new agent of the account, in a vault of its own. */
async function agentIn(world: World, name: string, type: "public" | "shared") {
  const vault = await world.keyed.vaults.create({ name, type });
  const { text } = await world.owner.invites.create({ name: `agent of ${name}`, vaultIds: [vault.id] });
  const agent = await world.redeem(text, type);
  if (type === "shared") await world.keyed.vaults.members.add(vault.id, agent.chainAddress);
  return { vault, agent };
}

async function webhookTo(world: World, events: readonly "file.uploaded"[] = ["file.uploaded"]) {
  const { webhook, secret } = await world.owner.webhooks.create({ url: world.sink.hookUrl, events: [...events] });
  world.sink.trust(secret);
  return webhook;
}

export const sharing: readonly EvalTask[] = [
  defineTask({
    name: "share with the bookkeeping agent until Friday",
    ask: "Share the vault with the bookkeeping agent until Friday. It may only read.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      return { words: title, known: id };
    },
    play: async (agent, vault) => {
      const scopes = ["files:read", "folders:read", "vaults:read"];
      const wish = { name: "bookkeeping", vaultIds: [vault], until: "friday", scopes };
      return unmarked((await agent.call("access_grant", wish)).facts["file"]);
    },
    verify: async (world, vaultId, file) => {
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const { client, keyId } = await world.redeem((await readFile(file, "utf8")).trim());
      const { vaultIds, expiresAt, scopes } = await world.owner.apiKeys.get(keyId);
      const end = new Date(expiresAt ?? "");
      // The first moment of Saturday.
      assert.deepEqual([vaultIds, end.getUTCDay(), end.toISOString().slice(11)], [[vaultId], 6, "00:00:00.000Z"]);
      assert.ok(end.getTime() - Date.now() <= 7 * 86_400_000);
      assert.deepEqual(scopes?.includes("files:write"), false);
      await assert.rejects(client.files.upload({ vaultId, name: "x", body: "x" }));
    },
  }),
  defineTask({
    name: "let her in",
    ask: "Add the address that the new agent gave us to the shared vault, for three days.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const vault = await world.keyed.vaults.create({ name: title, type: "shared" });
      const ids = await storeTree(world.keyed, vault.id, { "welcome.txt": "for members" });
      const { text } = await world.owner.invites.create({ name: "guest", vaultIds: [vault.id] });
      const guest = await world.redeem(text);
      return {
        words: { vault: title, address: guest.chainAddress },
        known: { guest, vaultId: vault.id, fileId: ids["welcome.txt"] ?? "" },
      };
    },
    play: async (agent, { vault, address }) => {
      const wish = { name: "guest", vaultIds: [vault], chainAddress: address, until: "3d" };
      return (await agent.call("access_grant", wish)).text;
    },
    verify: async ({ keyed }, { guest, vaultId, fileId }) => {
      assert.equal(await contentOf(guest.client, fileId), "for members");
      const member = (await keyed.vaults.members.list(vaultId)).items.find(
        ({ chainAddress }) => chainAddress === guest.chainAddress,
      );
      assert.ok(Math.abs(Date.parse(member?.endsAt ?? "") - Date.now() - 3 * 86_400_000) <= 900_000);
    },
  }),
  defineTask({
    name: "a small budget",
    ask: "Invite a scanner agent that may store at most 10 files a day.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      await world.publicVault(title);
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const { facts } = await agent.call("access_grant", { name: "scanner", vaultIds: [vault], filesPerDay: 10 });
      return unmarked(facts["file"]);
    },
    verify: async (world, _known, file) => {
      const { keyId } = await world.redeem((await readFile(file, "utf8")).trim());
      assert.equal((await world.owner.apiKeys.get(keyId)).budgets?.filesPerDay, 10);
    },
  }),
  defineTask({
    name: "undo what it did since noon",
    ask: "The scanner agent runs wild. Undo what it did since noon, and lock it out.",
    as: "owner",
    most: 2,
    prepare: async (world, { title }) => {
      const { vault, agent } = await agentIn(world, title, "public");
      const before = await storeTree(world.owner, vault.id, { "good.txt": "good", "kept.txt": "kept" });
      await agent.client.files.replace(before["good.txt"] ?? "", { body: "bad" });
      await agent.client.files.delete(before["kept.txt"] ?? "");
      await storeTree(agent.client, vault.id, { "spam.txt": "spam" });
      return {
        words: `agent of ${title}`,
        known: { keyId: agent.keyId, vaultId: vault.id, goodId: before["good.txt"] ?? "" },
      };
    },
    play: async (agent, name) => {
      const { rows } = await agent.call("access_list");
      const row = rows.find((each) => each["kind"] === "key" && said(each, "name") === name);
      // Until noon has come, it is the noon of yesterday.
      return (await agent.call("access_revoke", { who: cell(row, "id"), rewindSince: "noon" })).text;
    },
    verify: async ({ owner }, { keyId, vaultId, goodId }) => {
      assert.notEqual((await owner.apiKeys.get(keyId)).revokedAt, null);
      const { files } = await owner.files.list({ vaultId });
      assert.deepEqual(files.map(({ name }) => name).sort(), ["good.txt", "kept.txt"]);
      assert.equal(await contentOf(owner, goodId), "good");
    },
  }),
  defineTask({
    name: "end her access",
    ask: "The guest has left: take her out of everything.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { vault, agent } = await agentIn(world, title, "shared");
      return { words: agent.keyId.slice(0, 8), known: { vault, agent } };
    },
    play: async (agent, who) => (await agent.call("access_revoke", { who })).text,
    verify: async (world, { vault, agent }) => {
      const members = (await world.fresh().vaults.members.list(vault.id)).items;
      assert.ok(!members.some(({ chainAddress }) => chainAddress === agent.chainAddress));
      await assert.rejects(agent.client.account.get());
    },
  }),
  defineTask({
    name: "who has access",
    ask: "Who can open the vault Books?",
    as: "owner",
    most: 1,
    prepare: () => Promise.resolve({ words: "Books", known: null }),
    play: async (agent, vault) => {
      const { rows } = await agent.call("access_list", { vaultId: vault });
      return rows
        .filter((row) => row["kind"] === "member")
        .map((row) => cell(row, "id"))
        .join(" ");
    },
    verify: async (world, _known, told) => {
      const members = (await world.fresh().vaults.members.list(world.books.id)).items;
      assert.deepEqual(told.split(" ").sort(), members.map(({ chainAddress }) => chainAddress).sort());
    },
  }),
  defineTask({
    name: "why can she not open it",
    ask: "Why can I not open the files of this vault?",
    as: "outsider",
    most: 1,
    prepare: () => Promise.resolve({ words: "Closed", known: null }),
    play: async (agent, vault) => {
      const { facts, rows } = await agent.call("vault_access_check", { vaultId: vault });
      const first = rows.find((row) => row["state"] === "failed");
      return `${String(first?.["layer"])} ${unmarked(first?.["cause"])} ${String(facts["nextStep"])}`;
    },
    verify: async (world, _known, told) => {
      const members = (await world.fresh().vaults.members.list(world.closed.id)).items;
      assert.ok(!members.some(({ chainAddress }) => chainAddress === world.outsider.chainAddress));
      assert.match(told, /^(api|chain) not_a_member /);
      assert.ok(told.includes(world.outsider.chainAddress), told);
    },
  }),
  defineTask({
    name: "why can she not open it, asked by the owner",
    ask: "Why can the sales agent not open the vault Closed?",
    as: "owner",
    most: 1,
    prepare: () => Promise.resolve({ words: { vault: "Closed", who: "sales" }, known: null }),
    play: async (agent, { vault, who }) => {
      const { rows } = await agent.call("access_list", { vaultId: vault });
      const key = rows.find((row) => row["kind"] === "key" && said(row, "name") === who);
      const members = rows.filter((row) => row["kind"] === "member").map((row) => cell(row, "id"));
      return `key ${cell(key, "state")}, members ${members.join(" ")}`;
    },
    verify: ({ outsider }, _known, told) => {
      assert.match(told, /^key (in use|never used), members 0x/);
      assert.ok(!told.includes(outsider.chainAddress), told);
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "a new shared vault",
    ask: "Make an encrypted vault for the family.",
    as: "owner",
    most: 1,
    prepare: (_world, { title }) => Promise.resolve({ words: title, known: title }),
    play: async (agent, name) => String((await agent.call("vault_create", { name, type: "shared" })).facts["vaultId"]),
    verify: async (world, title, vaultId) => {
      const { name, type } = await world.fresh().vaults.get(vaultId);
      assert.deepEqual([name, type], [title, "shared"]);
      assert.equal((await world.fresh().vaults.members.list(vaultId)).items.length, 1);
    },
  }),
  defineTask({
    name: "send events to our system",
    ask: "Call our system whenever a file arrives.",
    as: "owner",
    most: 1,
    prepare: (world) => Promise.resolve({ words: world.sink.hookUrl, known: null }),
    play: async (agent, url) => {
      const { facts } = await agent.call("webhook_set", { url, events: ["file.uploaded"] });
      return `${String(facts["webhookId"])} ${unmarked(facts["file"])}`;
    },
    verify: async (world, _known, told) => {
      const [webhookId = "", file = ""] = told.split(" ");
      world.sink.trust((await readFile(file, "utf8")).trim());
      const { events } = await world.owner.webhooks.get(webhookId);
      assert.deepEqual(events, ["file.uploaded"]);
      const delivery = await world.owner.webhooks.test(webhookId);
      assert.equal(delivery.status, "success");
      assert.equal(world.sink.deliveries.all.at(-1)?.problem, null);
      await world.owner.webhooks.delete(webhookId);
    },
  }),
  defineTask({
    name: "does the webhook work",
    ask: "Check that our webhook works.",
    as: "owner",
    most: 2,
    prepare: async (world) => ({ words: null, known: (await webhookTo(world)).id }),
    play: async (agent) => {
      const { rows } = await agent.call("webhook_list");
      return (await agent.call("webhook_send", { webhookId: cell(rows[0], "webhookId") })).text;
    },
    verify: async (world, webhookId, told) => {
      assert.match(told, /success/);
      const last = world.sink.deliveries.all.at(-1);
      assert.deepEqual([last?.kind, last?.problem], ["webhook.test", null]);
      await world.owner.webhooks.delete(webhookId);
    },
  }),
  defineTask({
    name: "pause the webhook",
    ask: "Stop the webhook for now.",
    as: "owner",
    most: 2,
    prepare: async (world) => ({ words: null, known: (await webhookTo(world)).id }),
    play: async (agent) => {
      const { rows } = await agent.call("webhook_list");
      return (await agent.call("webhook_set", { webhookId: cell(rows[0], "webhookId"), active: false })).text;
    },
    verify: async ({ owner }, webhookId) => {
      assert.equal((await owner.webhooks.get(webhookId)).active, false);
      await owner.webhooks.delete(webhookId);
    },
  }),
  defineTask({
    name: "the webhook's secret is known",
    ask: "The secret of our webhook leaked. Make a new one.",
    as: "owner",
    most: 2,
    prepare: async (world) => ({ words: null, known: (await webhookTo(world)).id }),
    play: async (agent) => {
      const { rows } = await agent.call("webhook_list");
      const { facts } = await agent.call("webhook_set", { webhookId: cell(rows[0], "webhookId"), rotateSecret: true });
      return unmarked(facts["file"]);
    },
    verify: async (world, webhookId, file) => {
      world.sink.trust((await readFile(file, "utf8")).trim());
      await world.owner.webhooks.test(webhookId);
      assert.equal(world.sink.deliveries.all.at(-1)?.problem, null);
      await world.owner.webhooks.delete(webhookId);
    },
  }),
  defineTask({
    name: "remove the webhook",
    ask: "We do not need the webhook any more.",
    as: "owner",
    most: 2,
    prepare: async (world) => ({ words: null, known: (await webhookTo(world)).id }),
    play: async (agent) => {
      const { rows } = await agent.call("webhook_list");
      return (await agent.call("webhook_delete", { webhookId: cell(rows[0], "webhookId") })).text;
    },
    verify: async ({ owner }, webhookId) => {
      await assert.rejects(owner.webhooks.get(webhookId));
    },
  }),
  defineTask({
    name: "is the log whole",
    ask: "Did anybody tamper with the audit log?",
    as: "owner",
    most: 1,
    prepare: () => Promise.resolve({ words: null, known: null }),
    play: async (agent) => {
      const { facts } = await agent.call("audit_list", { verify: true });
      return String(facts["intact"]);
    },
    verify: async ({ owner }, _known, told) => {
      assert.equal(told, String((await owner.audit.verify()).fault === null));
    },
  }),
];
