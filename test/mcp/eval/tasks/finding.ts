/** Looking for things, reading them, fetching them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { cell, said } from "../agent.ts";
import { defineTask, type EvalTask } from "../task.ts";
import { numbered, readTree, storeTree } from "../truth.ts";
import { DAY_MS } from "../world.ts";

const TERMS = "The rent is 900 a month, to be paid on the first working day.";

export const finding: readonly EvalTask[] = [
  defineTask({
    name: "find the contract of March and read it",
    ask: "Find the contract of March, and tell me the rent.",
    as: "owner",
    most: 2,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, {
        "Legal/2026/Contract March.txt": TERMS,
        "Legal/2026/Contract April.txt": "The rent is 950.",
        "March notes.txt": "nothing",
      });
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_search", { query: "contract march", vaultId: vault });
      const { text } = await agent.call("file_read", { file: cell(rows[0], "id") });
      return text;
    },
    verify: (_world, _known, told) => {
      assert.match(told, /The rent is 900 a month/);
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "find an encrypted file by a word of its name",
    ask: "Where is the inventory?",
    as: "agent",
    most: 1,
    prepare: async (world, { title }) => {
      const ids = await storeTree(world.keyed, world.books.id, { [`${title} Inventory 2026.txt`]: "x" });
      return { words: null, known: Object.values(ids)[0] ?? "" };
    },
    play: async (agent) => {
      const { rows } = await agent.call("file_search", { query: "inventory" });
      return cell(rows[0], "id");
    },
    verify: (_world, fileId, told) => {
      assert.ok(fileId.startsWith(told));
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "pictures of this week",
    ask: "Which pictures came this week?",
    as: "owner",
    most: 1,
    past: {
      ago: 30 * DAY_MS,
      happen: async (world, { title }) => {
        const { id } = await world.publicVault(title);
        await world.owner.files.upload({ vaultId: id, name: "old.png", contentType: "image/png", body: "x" });
      },
    },
    prepare: async (world, { title }) => {
      const vault = await vaultNamed(world.owner, title);
      for (const [name, contentType] of [
        ["beach.png", "image/png"],
        ["road.jpg", "image/jpeg"],
        ["list.txt", "text/plain"],
      ] as const)
        await world.owner.files.upload({ vaultId: vault, name, contentType, body: "x" });
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_search", { type: "image/", since: "7d", vaultId: vault });
      return rows
        .map((row) => said(row, "name"))
        .sort()
        .join(" ");
    },
    verify: (_world, _known, told) => {
      assert.equal(told, "beach.png road.jpg");
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "what is in this folder",
    ask: "What is in Projects/Bridge?",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, {
        "Projects/Bridge/plan.txt": "x",
        "Projects/Bridge/drawings/one.txt": "x",
        "Projects/Road/plan.txt": "x",
      });
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const { rows } = await agent.call("file_list", { vaultId: vault, folder: "Projects/Bridge", depth: 2 });
      return rows
        .map((row) => said(row, "name"))
        .sort()
        .join(" ");
    },
    verify: (_world, _known, told) => {
      assert.equal(told, "drawings/ drawings/one.txt plan.txt");
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "a name among hundreds",
    ask: "Is there a file called needle-417.txt?",
    as: "owner",
    most: 1,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      await world.owner.files.uploadMany(
        Array.from({ length: 500 }, (_, at) => ({ vaultId: id, name: `needle-${String(at)}.txt`, body: "x" })),
      );
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const { rows, facts } = await agent.call("file_search", { query: "needle-417", vaultId: vault, limit: 1 });
      return `${said(rows[0], "name")} ${String(facts["complete"])}`;
    },
    verify: (_world, _known, told) => {
      assert.equal(told, "needle-417.txt true");
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "get the whole project back",
    ask: "Get the whole project Bridge back to my computer.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      const tree = numbered(30, (at) => `${at % 2 === 0 ? "" : "drawings/"}${String(at)}.txt`);
      await storeTree(
        world.owner,
        id,
        Object.fromEntries(Object.entries(tree).map(([path, text]) => [`Bridge/${path}`, text])),
      );
      return { words: { vault: title, dest: join(directory, "back") }, known: { tree, dest: join(directory, "back") } };
    },
    play: async (agent, { vault, dest }) =>
      (await agent.call("file_download", { vaultId: vault, folder: "Bridge", dest })).text,
    verify: async (_world, { tree, dest }) => {
      const found = await readTree(dest);
      // In a folder of its name, or as the folder itself.
      const inside = Object.fromEntries(
        Object.entries(found).map(([path, text]) => [path.replace(/^Bridge\//, ""), text]),
      );
      assert.deepEqual(inside, Object.fromEntries(Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1))));
    },
  }),
  defineTask({
    name: "two files at once",
    ask: "Download the two invoices of May.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "May/a.txt": "A", "May/b.txt": "B", "May/c.txt": "C" });
      return { words: { vault: title, dest: directory }, known: directory };
    },
    play: async (agent, { vault, dest }) =>
      (await agent.call("file_download", { files: ["May/a.txt", "May/b.txt"], vaultId: vault, dest })).text,
    verify: async (_world, directory) => {
      assert.deepEqual(await readTree(directory), { "a.txt": "A", "b.txt": "B" });
    },
  }),
  defineTask({
    name: "the next page",
    ask: "Read the long log to its end.",
    as: "owner",
    most: 2,
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      const lines = Array.from({ length: 2_400 }, (_, at) => `line ${String(at)} of the log`).join("\n");
      await storeTree(world.owner, id, { "long.log": `${lines}\nthe very end` });
      return { words: title, known: null };
    },
    play: async (agent, vault) => {
      const place = { file: "long.log", vaultId: vault, maxChars: 30_000 };
      const { facts, text } = await agent.call("file_read", place);
      if (facts["nextOffset"] === undefined) return text;
      return (await agent.call("file_read", { ...place, offset: facts["nextOffset"] })).text;
    },
    verify: (_world, _known, told) => {
      assert.match(told, /the very end/);
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "read what the owner allows",
    ask: "What does the balance say?",
    as: "reader",
    most: 1,
    prepare: async (world, { title }) => {
      await storeTree(world.keyed, world.books.id, { [`${title}.txt`]: "The balance is 12." });
      return { words: `${title}.txt`, known: null };
    },
    play: async (agent, file) => (await agent.call("file_read", { file, vaultId: "Books" })).text,
    verify: (_world, _known, told) => {
      assert.match(told, /The balance is 12\./);
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "how much room is left",
    ask: "How much may I still store?",
    as: "owner",
    most: 1,
    prepare: () => Promise.resolve({ words: null, known: null }),
    play: async (agent) => (await agent.call("status_check")).text,
    verify: async ({ owner }, _known, told) => {
      const { account } = await owner.account.get();
      assert.ok(told.includes(String(account.limits.storageBytes)), told);
    },
  }),
  defineTask({
    name: "which vaults are there",
    ask: "Which vaults can I use?",
    as: "agent",
    most: 1,
    prepare: () => Promise.resolve({ words: null, known: null }),
    play: async (agent) => (await agent.call("vault_list")).rows.map((row) => said(row, "name")).join(" "),
    verify: (_world, _known, told) => {
      assert.equal(told, "Books");
      return Promise.resolve();
    },
  }),
];

async function vaultNamed(client: Parameters<typeof storeTree>[0], name: string): Promise<string> {
  for await (const vault of client.vaults.list()) if (vault.name === name) return vault.id;
  throw new Error(`no vault ${name}`);
}
