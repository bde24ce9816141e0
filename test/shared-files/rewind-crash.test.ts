/** A rewind whose process ends at ten of its calls: the same call in the next process finishes it. */
import type { Client } from "@coffer/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openMachine, type Machine } from "../kit/mortal-process.ts";
import { sharedStack, UNLIMITED } from "../kit/shared-scene.ts";

/** Eight acts may be on their way when a process ends. */
const FILES = 60;
const DEATHS = 10;

const stack = sharedStack(UNLIMITED);
let machine: Machine;

beforeAll(async () => {
  machine = await openMachine(stack);
});
afterAll(() => machine[Symbol.asyncDispose]());

/** Name, place, content and versions of each file that is not in the trash. */
async function look(client: Client, vaultId: string): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>();
  for await (const { id, name, folderId } of client.files.list({ vaultId, limit: 1000 })) {
    const content = new TextDecoder().decode(await (await client.files.download(id)).bytes());
    seen.set(id, `${folderId ?? ""}/${name}: ${content}`);
  }
  return seen;
}

test.each(["shared", "public"] as const)("[D5-rewind-shared] in a %s vault", async (type) => {
  const { client } = stack.owner;
  const agent = await stack.invite(`the agent of a ${type} vault`);
  const { chainAddress } = agent.signer;
  const vault = await client.vaults.create({ name: `rewound ${type}`, type });
  const there = { vaultId: vault.id };
  if (type === "shared") await client.vaults.members.add(vault.id, chainAddress);
  const ids: string[] = [];
  for (let at = 0; at < FILES; at += 1)
    ids.push(
      (await client.files.upload({ ...there, name: `${type} file ${String(at)}`, body: `first ${String(at)}` })).file
        .id,
    );
  const before = await look(client, vault.id);
  const since = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < since) await new Promise(setImmediate);
  const folder = await agent.client.folders.create({ ...there, name: `${type} folder` });
  for (const [at, id] of ids.entries()) {
    await agent.client.files.replace(id, { ...there, body: `second ${String(at)}` });
    await agent.client.files.update(id, { name: `${type} renamed ${String(at)}`, folderId: folder.id }, there);
  }
  await agent.client.files.upload({ ...there, name: `${type} new`, body: "new" });

  const rewind = (by: Client) => by.agents.rewind({ chainAddress, since, ...there });
  for (let death = 0; death < DEATHS; death += 1) {
    let changes = 0;
    const life = await machine.live(stack.owner, rewind, {
      // Reads change nothing: the process dies at its first act, before it or after it.
      isAt: ({ name }) =>
        /\.(update|delete|replace|upload|restore|restoreVersion|batch)$/.test(name) && (changes += 1) === 1,
      isAnswerLost: death % 2 === 1,
    });
    expect([death, life.result]).toEqual([death, null]);
  }
  const { result } = await machine.live(stack.owner, rewind);
  expect(result?.value.left).toEqual([]);
  expect(await look(client, vault.id)).toEqual(before);
  expect((await client.folders.get(folder.id)).trashedAt).not.toBeNull();
  const again = await machine.live(stack.owner, rewind);
  expect([again.result?.value.steps, again.changes.length]).toEqual([[], 0]);
});
