/** J21: what one agent did is undone, and what others did afterwards stays; in public vaults. */
import { type Client, createClient, type Rewind, SdkError } from "@coffer/sdk";
import assert from "node:assert/strict";
import { actOn, bodyOf, fill, join, look, untilAfterNow } from "./rewound-vault.ts";
import { rewindsByCommand } from "./commands-files.ts";
import { openTools } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";

const SIZES = { files: 60, folders: 8, acts: 200 };
const KILLS = 10;

/** A client whose process ends after so many requests that change something. */
function mortal(baseUrl: string, apiKey: string, writes: number): Client {
  let left = writes;
  return createClient({
    baseUrl,
    credentials: { apiKey },
    retry: { limit: 0 },
    transport: async (request) => {
      if (request.method !== "GET" && left-- <= 0) throw new TypeError("killed");
      return fetch(request.url, request);
    },
  });
}

export async function rewound(world: World): Promise<Checks> {
  const { stack } = world;
  const { baseUrl, apiKey } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey } });
  const vault = await owner.vaults.create({ name: "Rewound", type: "public" });
  const things = await fill(owner, vault.id, SIZES);
  const [a, b] = [await join(baseUrl, owner, vault.id), await join(baseUrl, owner, vault.id)];
  const [agentA, agentB] = [a.client, b.client];
  const before = await look(owner, vault.id);
  const since = await untilAfterNow();
  const { made } = await actOn(agentA, vault.id, things, SIZES.acts);
  const byA = await look(owner, vault.id);
  /** A file that A changed in this, and nobody has touched since. */
  const changedIn = (fact: "name" | "content", but: readonly string[] = []): string => {
    const found = things.files.find((id) => {
      const [was, is] = [before.get(id), byA.get(id)];
      return is?.trashed === false && is[fact] !== was?.[fact] && !but.includes(id);
    });
    assert.ok(found !== undefined);
    return found;
  };
  const replaced = changedIn("content");
  const renamed = changedIn("name", [replaced]);
  await agentB.files.replace(replaced, { body: bodyOf("by B") });
  await agentB.files.update(renamed, { name: "by B" });
  const kept = made.find((id) => byA.get(id)?.trashed === false) ?? "";
  await agentB.files.update(kept, { name: "kept by B" });
  const middle = await look(owner, vault.id);
  const byB = [replaced, renamed, kept];
  const input = { keyId: a.id, since, vaultId: vault.id };
  let plan: Rewind;
  return {
    ...(await rewindsByCommand(world)),
    "J21-plan": async () => {
      plan = await owner.agents.rewind({ ...input, dryRun: true });
      assert.deepEqual(await look(owner, vault.id), middle);
      assert.equal(plan.rows, await countOf(owner, since, a.id));
      assert.ok(Object.values(plan.counts).every((count) => count > 0));
      assert.deepEqual(
        new Set(plan.left.map(({ id, reason }) => `${id} ${reason}`)),
        new Set(byB.map((id) => `${id} changed_since`)),
      );
    },
    "J21-killed": async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const dying = mortal(baseUrl, apiKey, Math.floor(plan.steps.length / (KILLS + 2)));
        await assert.rejects(dying.agents.rewind(input), SdkError);
      }
    },
    "J21-rewound": async () => {
      const done = await owner.agents.rewind(input);
      assert.deepEqual(
        new Set(done.left.map(({ id, reason }) => `${id} ${reason}`)),
        new Set(byB.map((id) => `${id} changed_since`)),
      );
      const after = await look(owner, vault.id);
      for (const [id, seen] of before) if (!byB.includes(id)) assert.deepEqual(after.get(id), seen);
      for (const id of made) if (!byB.includes(id)) assert.equal(after.get(id)?.trashed, true);
    },
    "J21-others": async () => {
      const after = await look(owner, vault.id);
      assert.equal(after.get(replaced)?.content, middle.get(replaced)?.content);
      assert.equal(after.get(renamed)?.name, "by B");
      assert.deepEqual(after.get(kept), middle.get(kept));
    },
    "J21-rights": async () => {
      await assert.rejects(agentA.agents.rewind({ keyId: b.id, since }), { code: "owner_only" });
      const own = await agentB.agents.rewind({ keyId: b.id, since, dryRun: true });
      assert.ok(own.steps.length > 0);
    },
    "J21-again": async () => {
      const state = await look(owner, vault.id);
      const again = await owner.agents.rewind(input);
      assert.deepEqual(again.steps, []);
      assert.deepEqual(await look(owner, vault.id), state);
    },
    "J21-tools": async () => {
      const tools = await openTools(world);
      const args = { who: b.id, rewindSince: since };
      const asked = await tools.call("access_revoke", args);
      const { code, confirm } = asked.facts["error"] as { code: string; confirm: string };
      assert.equal(code, "confirmation_required", asked.wire);
      assert.equal((await owner.apiKeys.get(b.id)).revokedAt, null);
      const done = await tools.call("access_revoke", { ...args, confirm });
      assert.equal(done.isError, false, done.wire);
      assert.notEqual((await owner.apiKeys.get(b.id)).revokedAt, null);
      assert.deepEqual((await owner.agents.rewind({ keyId: b.id, since, dryRun: true })).steps, []);
      assert.notEqual((await look(owner, vault.id)).get(renamed)?.name, "by B");
    },
  };
}

async function countOf(client: Client, since: string, by: string): Promise<number> {
  let count = 0;
  for await (const _ of client.changes.list({ since, by, limit: 1000 }, { names: false })) count += 1;
  return count;
}
