/** J21: what one agent did is undone, and what others did afterwards stays. */
import { chainKeySigner, type Client, createClient, generateChainKey, type Rewind, SdkError } from "@coffer/sdk";
import assert from "node:assert/strict";
import type { Checks, World } from "./run.ts";

const [FILES, FOLDERS, ACTS, KILLS] = [60, 8, 200, 10];

interface Seen {
  readonly name: string;
  readonly place: string | null;
  readonly trashed: boolean;
  readonly sha256: string;
}

/** All files and folders of the vault, by id. */
async function look(client: Client, vaultId: string): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const trashed of [false, true]) {
    for await (const { id, name, folderId: place, sha256 } of client.files.list({ vaultId, trashed, limit: 1000 }))
      seen.set(id, { name, place, trashed, sha256 });
    for await (const { id, name, parentId: place } of client.folders.list({ vaultId, trashed, limit: 1000 }))
      seen.set(id, { name, place, trashed, sha256: "" });
  }
  return seen;
}

const bodyOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function fill(owner: Client, vaultId: string) {
  const folders: string[] = [];
  for (let number = 0; number < FOLDERS; number += 1) {
    const parentId = number % 3 === 2 ? (folders.at(-1) ?? null) : null;
    folders.push((await owner.folders.create({ vaultId, parentId, name: `folder ${number}` })).id);
  }
  const inputs = Array.from({ length: FILES }, (_, number) => ({
    ...{ vaultId, folderId: folders[number % FOLDERS] ?? "", name: `file ${number}` },
    body: bodyOf(`content ${number}`),
  }));
  const outcomes = await owner.files.uploadMany(inputs);
  const files = outcomes.map((outcome) => {
    assert.ok(outcome.result !== null);
    return outcome.result.file.id;
  });
  return { folders, files };
}

/** Every kind of act in turn, on one thing after the other; the same ones in each run. */
async function act(agent: Client, vaultId: string, { folders, files }: Awaited<ReturnType<typeof fill>>) {
  const trashed = new Set<string>();
  const made: string[] = [];
  for (let turn = 0; turn < ACTS; turn += 1) {
    const fileId = files[(turn * 7) % files.length] ?? "";
    const folderId = folders[turn % folders.length] ?? "";
    const isGone = trashed.has(fileId);
    if (isGone && turn % 2 === 0) {
      await agent.files.restore(fileId);
      trashed.delete(fileId);
    } else if (turn % 10 === 3 || isGone) {
      const { file } = await agent.files.upload({
        vaultId,
        folderId,
        name: `new ${turn}`,
        body: bodyOf(`new ${turn}`),
      });
      made.push(file.id);
    } else if (turn % 10 === 5) {
      await agent.files.delete(fileId);
      trashed.add(fileId);
    } else if (turn % 10 === 7) await agent.folders.update(folderId, { name: `renamed folder ${turn}` });
    else if (turn % 10 === 9) made.push((await agent.folders.create({ vaultId, name: `new folder ${turn}` })).id);
    else if (turn % 5 === 1) await agent.files.update(fileId, { name: `renamed ${turn}` });
    else if (turn % 5 === 2) await agent.files.update(fileId, { folderId: null, name: `moved ${turn}` });
    else await agent.files.replace(fileId, { body: bodyOf(`replaced ${turn}`) });
  }
  // A whole folder goes, with what lies in it; two files change names; and one name is used again.
  await agent.folders.delete(folders[7] ?? "");
  const [first, second] = [files[0] ?? "", files[8] ?? ""];
  for (const id of [first, second]) if (trashed.has(id)) await agent.files.restore(id);
  const [one, two] = [
    await agent.files.update(first, { name: "one" }),
    await agent.files.update(second, { name: "two" }),
  ];
  await agent.files.update(first, { name: "between", folderId: two.folderId });
  await agent.files.update(second, { name: "one", folderId: one.folderId });
  return { made, trashed };
}

/** A client whose process ends after so many requests that change something. */
function mortal(baseUrl: string, apiKey: string, writes: number): Client {
  let left = writes;
  return createClient({
    ...{ baseUrl, credentials: { apiKey }, retry: { limit: 0 } },
    transport: async (request) => {
      if (request.method !== "GET" && left-- <= 0) throw new TypeError("killed");
      return fetch(request);
    },
  });
}

export async function rewound({ stack }: World): Promise<Checks> {
  const { baseUrl, apiKey } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey } });
  const vault = await owner.vaults.create({ name: "Rewound", type: "public" });
  const things = await fill(owner, vault.id);
  const [a, b] = [await join(baseUrl, owner, vault.id), await join(baseUrl, owner, vault.id)];
  const [agentA, agentB] = [a.client, b.client];
  const before = await look(owner, vault.id);
  const since = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < since) await new Promise(setImmediate);
  const { made } = await act(agentA, vault.id, things);
  const byA = await look(owner, vault.id);
  /** A file that A changed in this, and nobody has touched since. */
  const changedIn = (fact: "name" | "sha256", but: readonly string[] = []): string => {
    const found = things.files.find((id) => {
      const [was, is] = [before.get(id), byA.get(id)];
      return is?.trashed === false && is[fact] !== was?.[fact] && !but.includes(id);
    });
    assert.ok(found !== undefined);
    return found;
  };
  const replaced = changedIn("sha256");
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
      assert.equal(after.get(replaced)?.sha256, middle.get(replaced)?.sha256);
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
  };
}

/** An agent with a chain key of its own. */
async function join(baseUrl: string, owner: Client, vaultId: string) {
  const { text } = await owner.invites.create({ name: "agent", vaultIds: [vaultId] });
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const { key, keyId: id } = await createClient({ baseUrl }).invites.redeem(text, signer);
  return { id, client: createClient({ baseUrl, credentials: { apiKey: key } }) };
}

async function countOf(client: Client, since: string, by: string): Promise<number> {
  let count = 0;
  for await (const _ of client.changes.list({ since, by, limit: 1000 }, { names: false })) count += 1;
  return count;
}
