/** Order, change and undo. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { cell, said } from "../agent.ts";
import { defineTask, type EvalTask } from "../task.ts";
import { contentOf, numbered, readTree, storeTree, treeOf } from "../truth.ts";
import { DAY_MS, type World } from "../world.ts";

async function vaultNamed({ owner }: World, name: string): Promise<string> {
  for await (const vault of owner.vaults.list()) if (vault.name === name) return vault.id;
  throw new Error(`no vault ${name}`);
}

export const changing: readonly EvalTask[] = [
  defineTask({
    name: "clean up drafts older than a year",
    ask: "Clean up: drafts older than a year can go.",
    as: "owner",
    most: 2,
    past: {
      ago: 400 * DAY_MS,
      happen: async (world, { title }) => {
        const { id } = await world.publicVault(title);
        await storeTree(
          world.owner,
          id,
          numbered(14, (at) => `Texts/draft ${String(at)}.txt`),
        );
        await storeTree(world.owner, id, { "final.txt": "old, and no draft" });
      },
    },
    prepare: async (world, { title }) => {
      const id = await vaultNamed(world, title);
      await storeTree(world.owner, id, { "draft new.txt": "young" });
      return { words: title, known: id };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_search", { query: "draft", until: "1y", vaultId: vault });
      const files = rows.map((row) => cell(row, "id"));
      const { text } = await agent.call("file_delete", { files, vaultId: vault });
      assert.equal(agent.asked.length, 1);
      return text;
    },
    verify: async ({ owner }, vaultId) => {
      assert.deepEqual(Object.keys(await treeOf(owner, vaultId)).sort(), ["draft new.txt", "final.txt"]);
      const trash = await owner.files.list({ vaultId, trashed: true, limit: 100 });
      assert.equal(trash.files.length, 14);
    },
  }),
  defineTask({
    name: "bring back yesterday's version",
    ask: "Bring back yesterday's version of plan.txt.",
    as: "owner",
    most: 2,
    past: {
      ago: DAY_MS,
      happen: async (world, { title }) => {
        const { id } = await world.publicVault(title);
        const ids = await storeTree(world.owner, id, { "plan.txt": "the day before" });
        await world.owner.files.replace(ids["plan.txt"] ?? "", { body: "yesterday" });
      },
    },
    prepare: async (world, { title }) => {
      const id = await vaultNamed(world, title);
      const [file] = (await world.owner.files.list({ vaultId: id })).files;
      await world.owner.files.replace(file?.id ?? "", { body: "today, and wrong" });
      return { words: title, known: file?.id ?? "" };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_get", { files: ["plan.txt"], vaultId: vault });
      const today = new Date().toISOString().slice(0, 10);
      const version = rows.find((row) => cell(row, "made").slice(0, 10) < today);
      const wish = { files: ["plan.txt"], vaultId: vault, version: cell(version, "version") };
      return (await agent.call("file_restore", wish)).text;
    },
    verify: async ({ owner }, fileId) => {
      assert.equal(await contentOf(owner, fileId), "yesterday");
      assert.equal((await owner.files.versions(fileId)).versions.length, 4);
    },
  }),
  defineTask({
    name: "fetch the old text without changing anything",
    ask: "Save the first version of contract.txt to my computer.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      const ids = await storeTree(world.owner, id, { "contract.txt": "first" });
      const fileId = ids["contract.txt"] ?? "";
      await world.owner.files.replace(fileId, { body: "second" });
      return { words: { vault: title, dest: join(directory, "first.txt") }, known: { fileId, directory } };
    },
    play: async (agent, { vault, dest }) =>
      (await agent.call("file_download", { files: ["contract.txt"], vaultId: vault, version: "1", dest })).text,
    verify: async ({ owner }, { fileId, directory }) => {
      assert.deepEqual(await readTree(directory), { "first.txt": "first" });
      assert.equal(await contentOf(owner, fileId), "second");
    },
  }),
  defineTask({
    name: "undo the deletion of a project",
    ask: "I deleted the folder Bridge by mistake. Bring it back.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      const tree = numbered(12, (at) => `Bridge/${at % 2 === 0 ? "" : "drawings/"}${String(at)}.txt`);
      const ids = await storeTree(world.owner, id, tree);
      await world.owner.folders.delete(ids["Bridge"] ?? "");
      return { words: title, known: { id, tree } };
    },
    play: async (agent, vault) => (await agent.call("file_restore", { files: ["Bridge"], vaultId: vault })).text,
    verify: async ({ owner }, { id, tree }) => {
      assert.deepEqual(Object.keys(await treeOf(owner, id)).sort(), Object.keys(tree).sort());
    },
  }),
  defineTask({
    name: "back under another name",
    ask: "Bring old.txt back from the trash, as older.txt.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      const ids = await storeTree(world.owner, id, { "old.txt": "first" });
      await world.owner.files.delete(ids["old.txt"] ?? "");
      await storeTree(world.owner, id, { "old.txt": "second" });
      return { words: title, known: id };
    },
    play: async (agent, vault) =>
      (await agent.call("file_restore", { files: ["old.txt"], name: "older.txt", vaultId: vault })).text,
    verify: async ({ owner }, vaultId) => {
      assert.deepEqual(await treeOf(owner, vaultId), { "old.txt": "second", "older.txt": "first" });
    },
  }),
  defineTask({
    name: "rename",
    ask: "Call the folder Stuff Contracts.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "Stuff/a.txt": "a" });
      return { words: title, known: id };
    },
    play: async (agent, vault) =>
      (await agent.call("file_move", { files: ["Stuff"], name: "Contracts", vaultId: vault })).text,
    verify: async ({ owner }, vaultId) => {
      assert.deepEqual(await treeOf(owner, vaultId), { "Contracts/a.txt": "a" });
    },
  }),
  defineTask({
    name: "put last year's invoices away",
    ask: "Move all invoices of 2025 into Archive/2025.",
    as: "owner",
    most: 2,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, {
        ...numbered(25, (at) => `invoice 2025-${String(at)}.txt`),
        "invoice 2026-1.txt": "x",
      });
      return { words: title, known: id };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_search", { query: "invoice 2025", vaultId: vault });
      const files = rows.map((row) => cell(row, "id"));
      return (await agent.call("file_move", { files, to: "Archive/2025", vaultId: vault })).text;
    },
    verify: async ({ owner }, vaultId) => {
      const paths = Object.keys(await treeOf(owner, vaultId));
      assert.equal(paths.filter((path) => path.startsWith("Archive/2025/invoice 2025-")).length, 25);
      assert.ok(paths.includes("invoice 2026-1.txt"));
    },
  }),
  defineTask({
    name: "throw away a folder",
    ask: "Delete the folder Old.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "Old/a.txt": "a", "b.txt": "b" });
      return { words: title, known: id };
    },
    play: async (agent, vault) => (await agent.call("file_delete", { files: ["Old"], vaultId: vault })).text,
    verify: async ({ owner }, vaultId) => {
      assert.deepEqual(await treeOf(owner, vaultId), { "b.txt": "b" });
    },
  }),
  defineTask({
    name: "what did the other agent change",
    ask: "What did the colleague change in the books?",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { client } = world.colleague;
      const ids = await storeTree(client, world.books.id, { [`${title}.txt`]: "by the colleague" });
      await client.files.replace(ids[`${title}.txt`] ?? "", { vaultId: world.books.id, body: "again" });
      await storeTree(world.bookkeeper.client, world.books.id, { [`not ${title}.txt`]: "by the bookkeeper" });
      return { words: { who: "colleague", vault: "Books" }, known: title };
    },
    play: async (agent, { who, vault }) => {
      const { rows } = await agent.call("change_list", { by: who, vaultId: vault });
      return rows.map((row) => `${cell(row, "kind")} ${said(row, "name")} ${cell(row, "by")}`).join("\n");
    },
    verify: ({ colleague }, title, told) => {
      const lines = told.split("\n");
      // Only of a version that is there still the signature can be looked at.
      assert.ok(lines.includes(`file.uploaded ${title}.txt ${colleague.chainAddress}`), told);
      assert.ok(lines.includes(`file.updated ${title}.txt ${colleague.chainAddress} verified`), told);
      assert.ok(!told.includes(`not ${title}`), told);
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "who did what, as an agent sees it",
    ask: "What happened in the vault in the last hour?",
    as: "agent",
    most: 1,
    prepare: async (world, { title }) => {
      await storeTree(world.colleague.client, world.books.id, { [`${title}.txt`]: "x" });
      return { words: null, known: title };
    },
    play: async (agent) => {
      const { rows } = await agent.call("change_list", { since: "1h", limit: 100 });
      return rows.map((row) => `${String(row["name"])} ${cell(row, "by")}`).join("\n");
    },
    verify: ({ colleague }, title, told) => {
      assert.match(told, new RegExp(`${title}\\.txt.* ${colleague.chainAddress} verified`));
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "tell me when a file arrives",
    ask: "Tell me when a file arrives in the inbox.",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "old.txt": "was there" });
      const arrive = async (): Promise<void> => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await storeTree(world.owner, id, { "arrived.txt": "x" });
      };
      return { words: { vault: title, arrive }, known: null };
    },
    play: async (agent, { vault, arrive }) => {
      const [{ rows }] = await Promise.all([agent.call("change_list", { vaultId: vault, wait: 50 }), arrive()]);
      return rows.map((row) => said(row, "name")).join(" ");
    },
    verify: (_world, _known, told) => {
      assert.equal(told, "arrived.txt");
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "who threw the file away",
    ask: "Who deleted budget.txt?",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const ids = await storeTree(world.keyed, world.books.id, { [`${title} budget.txt`]: "x" });
      await world.colleague.client.files.delete(Object.values(ids)[0] ?? "");
      return { words: { vault: "Books", file: `${title} budget.txt` }, known: null };
    },
    play: async (agent, { vault, file }) => {
      const { rows } = await agent.call("change_list", { vaultId: vault, since: "1h", limit: 100 });
      return cell(
        rows.findLast((row) => String(row["name"]).includes(file) && row["kind"] === "file.trashed"),
        "by",
      );
    },
    verify: ({ colleague }, _known, told) => {
      assert.ok(told.startsWith(colleague.chainAddress), told);
      return Promise.resolve();
    },
  }),
];
