/** J24: find it, among names that the service reads. */
import { createClient } from "@coffer/sdk";
import assert from "node:assert/strict";
import { createKey } from "../kit/account.ts";
import { searchesByCommand } from "./commands-files.ts";
import { columnOf, openTools } from "./own-tools.ts";
import type { Checks, World } from "./run.ts";
import { namesOf, storeNames, STREETS } from "./search-names.ts";

export async function foundInPublic(world: World): Promise<Checks> {
  const { stack } = world;
  const { baseUrl, apiKey } = stack;
  const client = createClient({ baseUrl, credentials: { apiKey } });
  const { id: vaultId } = await client.vaults.create({ name: "Searched", type: "public" });
  const plans = await client.folders.create({ vaultId, name: "plans" });
  const inner = await client.folders.create({ vaultId, name: "tower", parentId: plans.id });
  const { key, id: by } = await createKey(baseUrl, apiKey, { name: "agent", vaultIds: [vaultId] });
  await storeNames({ client: createClient({ baseUrl, credentials: { apiKey: key } }), vaultId, inner: inner.id });
  const own = await client.files.upload({ vaultId, name: "façade by the owner", body: "x" });
  return {
    ...searchesByCommand(world, "Searched", by),
    "J24-words": async () => {
      for (const q of ["strasse", "STRAẞE", "straße"]) assert.deepEqual(await namesOf(client.search({ q })), STREETS);
      assert.deepEqual(await namesOf(client.search({ q: "strasse", limit: 1 })), STREETS);
      const none = await client.search({ q: "nowhere", vaultId });
      assert.deepEqual([none.complete, none.files], [true, []]);
      // The account has shared vaults, which a client without a chain key cannot search.
      const all = await client.search({ q: "nowhere" });
      const reasons = new Set(all.unsearched.map(({ reason }) => reason));
      assert.deepEqual([all.complete, [...reasons]], [false, ["shared_vault"]]);
    },
    "J24-tools": async () => {
      const tools = await openTools(world);
      const find = async (query: object) => {
        const { facts } = await tools.call("file_search", { query: "facade", vaultId: "Searched", ...query });
        return columnOf(facts, "files", "name");
      };
      assert.deepEqual(await find({ author: "agent" }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ folder: "plans" }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ type: "application/pdf" }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ since: own.file.createdAt }), ["façade by the owner"]);
      const all = await tools.call("file_search", { query: "nowhere" });
      assert.equal(all.facts["complete"], false, all.wire);
    },
    "J24-filters": async () => {
      const find = (query: object) => namesOf(client.search({ q: "facade", ...query }));
      assert.deepEqual(await find({ by }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ type: "application/pdf" }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ folderId: plans.id }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ since: own.file.createdAt }), ["façade by the owner"]);
      assert.deepEqual(await find({ until: own.file.createdAt }), ["Façade of the tower.pdf"]);
    },
  };
}
