/** J24: find it, among names that only members read. */
import { vaultStores } from "@coffer/sdk/shared";
import { fileStore } from "@coffer/sdk/node";
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formsOf } from "../../kit/secret-forms.ts";
import { findsByCommand } from "./commands-shared-files.ts";
import type { Checks, SharedWorld } from "./run.ts";
import { namesOf, storeNames, STREETS } from "./search-names.ts";

export async function foundInShared(world: SharedWorld): Promise<Checks> {
  const { service, cleanup } = world;
  const directory = await mkdtemp(join(tmpdir(), "coffer-j24-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const owner = await service.signUp();
  const { client } = owner;
  const vault = await client.vaults.create({ name: "Closed", type: "shared" });
  const open = await client.vaults.create({ name: "Open", type: "public" });
  const agent = await service.invite(owner, { vaultIds: [vault.id] });
  await client.vaults.members.add(vault.id, agent.address);
  const plans = await client.folders.create({ vaultId: vault.id, name: "plans" });
  const inner = await client.folders.create({ vaultId: vault.id, name: "tower", parentId: plans.id });
  await storeNames({ client: agent.client, vaultId: vault.id, inner: inner.id });
  const own = await client.files.upload({ vaultId: vault.id, name: "façade by the owner", body: "x" });
  await client.files.upload({ vaultId: open.id, name: "Strasse in public.txt", body: "x" });
  return {
    ...findsByCommand(world, agent),
    "J24-merged": async () => {
      const [word = "", ...rest] = STREETS;
      const { files, complete } = await client.search({ q: "STRASSE" });
      assert.deepEqual([complete, files.map(({ name }) => name)], [true, ["Strasse in public.txt", word, ...rest]]);
      assert.deepEqual(
        files.map(({ vaultId }) => vaultId === open.id),
        [true, false, false, false],
      );
      assert.deepEqual(await namesOf(client.search({ q: "straße", limit: 1 })), ["Strasse in public.txt", ...STREETS]);
    },
    "J24-shared-filters": async () => {
      const find = (query: object) => namesOf(client.search({ vaultId: vault.id, q: "facade", ...query }));
      assert.deepEqual(await find({ by: agent.address }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ type: "application/pdf" }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ folderId: plans.id }), ["Façade of the tower.pdf"]);
      assert.deepEqual(await find({ since: own.file.createdAt }), ["façade by the owner"]);
    },
    "J24-wire": async () => {
      const words = ["Zitronenfalter", "merger-with-nobody", "ÄRGERNISSE im Tower"];
      const from = service.tap.bytes().length;
      for (const q of words) {
        await agent.client.search({ vaultId: vault.id, q });
        await owner.another().search({ q }, { localOnly: true });
      }
      const passed = service.tap.bytes().subarray(from);
      assert.ok(passed.includes("/api/changes"));
      for (const word of words.flatMap((each) => [each, each.toLowerCase(), encodeURIComponent(each)]))
        for (const { name, bytes } of formsOf(word)) assert.ok(!passed.includes(bytes), `${word} ${name}`);
    },
    "J24-unfinished": async () => {
      const seen: (readonly [boolean, number])[] = [];
      let cursor: string | undefined;
      // Each in a process of its own: the next one goes on where the last one ended.
      do {
        const once = owner.another({ names: vaultStores(fileStore(directory)).names });
        const page = await once.search({ q: "strasse", vaultId: vault.id, cursor }, { buildFor: 0 });
        seen.push([page.complete, page.files.length]);
        assert.ok(page.complete || page.nextCursor !== null);
        cursor = page.complete ? undefined : (page.nextCursor ?? undefined);
      } while (cursor !== undefined && seen.length < 50);
      assert.deepEqual(seen.at(-1), [true, STREETS.length]);
      assert.ok(seen.length > 2);
      assert.ok(seen.slice(0, -1).every(([complete, files]) => !complete && files === 0));
    },
  };
}
