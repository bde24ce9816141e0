/** J23: what changed, in public vaults. */
import { createClient, type Change, type Client } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createKey } from "../kit/account.ts";
import { changesByCommand } from "./commands-files.ts";
import { columnOf, openTools } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";

export async function whatChanged(world: World): Promise<Checks> {
  const { stack } = world;
  const { baseUrl, apiKey } = stack;
  const owner = createClient({ baseUrl, credentials: { apiKey } });
  const vault = await owner.vaults.create({ name: "Followed", type: "public" });
  const other = await owner.vaults.create({ name: "Elsewhere", type: "public" });
  const { key, id: keyId } = await createKey(baseUrl, apiKey, { name: "agent", vaultIds: [vault.id] });
  const agent = createClient({ baseUrl, credentials: { apiKey: key } });
  const put = (client: Client, vaultId: string, name: string) =>
    client.files.upload({ vaultId, name, body: new TextEncoder().encode(name) });
  await put(owner, vault.id, "before");
  const since = new Date(Date.now() + 1).toISOString();
  while (new Date().toISOString() < since) await new Promise(setImmediate);
  await put(owner, vault.id, "by the owner");
  const { file } = await put(agent, vault.id, "by the agent");
  await agent.files.update(file.id, { name: "renamed" });
  await put(owner, other.id, "elsewhere");
  const seen = async (list: AsyncIterable<Change>) => {
    const rows: (string | null)[][] = [];
    for await (const { kind, name } of list) rows.push([kind, name]);
    return rows;
  };
  return {
    ...(await changesByCommand(world)),
    "J23-since": async () => {
      assert.deepEqual(await seen(owner.changes.list({ since, by: keyId, limit: 1 })), [
        ["file.uploaded", "renamed"],
        ["file.updated", "renamed"],
      ]);
    },
    "J23-agent": async () => {
      assert.deepEqual(await seen(agent.changes.list({ since })), [
        ["file.uploaded", "by the owner"],
        ["file.uploaded", "renamed"],
        ["file.updated", "renamed"],
      ]);
      await assert.rejects(async () => agent.changes.list({ vaultId: other.id }), { code: "not_found" });
    },
    "J23-tools": async () => {
      const byOwner = await (await openTools(world)).call("change_list", { since, by: "agent" });
      assert.deepEqual(columnOf(byOwner.facts, "changes", "kind"), ["file.uploaded", "file.updated"], byOwner.wire);
      const tools = await openTools(world, key);
      const seenByAgent = await tools.call("change_list", { since });
      assert.deepEqual(columnOf(seenByAgent.facts, "changes", "name"), ["by the owner", "renamed", "renamed"]);
      const waiting = tools.call("change_list", { wait: 20 });
      // It waits from the moment at which the service takes it.
      await new Promise((resolve) => setTimeout(resolve, 500));
      await put(owner, other.id, "not for the agent either");
      await put(owner, vault.id, "waited for");
      assert.deepEqual(columnOf((await waiting).facts, "changes", "name"), ["waited for"]);
    },
    "J23-poll": async () => {
      const places: string[] = [];
      const signal = AbortSignal.timeout(20_000);
      const feed = agent.changes.follow({ signal, onCursor: (place) => places.push(place) });
      const next = feed.next();
      while (places.length === 0) await new Promise(setImmediate);
      await put(owner, other.id, "not for the agent");
      const begun = performance.now();
      await put(owner, vault.id, "awaited");
      assert.equal((await next).value?.name, "awaited");
      assert.ok(performance.now() - begun < 1000);
      await feed.return();
    },
  };
}
