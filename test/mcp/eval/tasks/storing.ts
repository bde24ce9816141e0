/** Putting things into vaults. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cell } from "../agent.ts";
import { defineTask, type EvalTask } from "../task.ts";
import { contentOf, numbered, storeTree, treeOf, writeTree } from "../truth.ts";

const INVOICES = { "march.txt": "100", "april.txt": "200", "paid/may.txt": "300", "paid/june.txt": "400" };

export const storing: readonly EvalTask[] = [
  defineTask({
    name: "put this folder there",
    ask: "Put the folder invoices of my computer into Archive/2026 of the vault Office.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await writeTree(join(directory, "invoices"), INVOICES);
      return { words: { folder: join(directory, "invoices"), vault: title }, known: id };
    },
    play: async (agent, { folder, vault }) =>
      (await agent.call("file_upload", { paths: [folder], vaultId: vault, folder: "Archive/2026" })).text,
    verify: async ({ owner }, vaultId) => {
      const wanted = Object.entries(INVOICES).map(([path, text]) => [`Archive/2026/invoices/${path}`, text]);
      assert.deepEqual(await treeOf(owner, vaultId), Object.fromEntries(wanted));
    },
  }),
  defineTask({
    name: "put a folder into the shared vault",
    ask: "Put the folder receipts of my computer into the vault.",
    as: "agent",
    most: 1,
    prepare: async (_world, { directory, title }) => {
      const tree = numbered(6, (at) => `${title} ${String(at)}.txt`);
      await writeTree(join(directory, "receipts"), tree);
      return { words: join(directory, "receipts"), known: tree };
    },
    play: async (agent, folder) => (await agent.call("file_upload", { paths: [folder] })).text,
    verify: async (world, known) => {
      const stored = await treeOf(world.fresh(), world.books.id);
      for (const [path, text] of Object.entries(known)) assert.equal(stored[`receipts/${path}`], text, path);
    },
  }),
  defineTask({
    name: "500 files by one call",
    ask: "Upload the folder measurements, all of it.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await writeTree(
        join(directory, "measurements"),
        numbered(500, (at) => `${String(at)}.csv`),
      );
      return { words: { folder: join(directory, "measurements"), vault: title }, known: id };
    },
    play: async (agent, { folder, vault }) => {
      const { text } = await agent.call("file_upload", { paths: [folder], vaultId: vault });
      // 600 tokens.
      assert.ok(text.length <= 2_400, text);
      return text;
    },
    verify: async ({ owner }, vaultId) => {
      assert.equal(Object.keys(await treeOf(owner, vaultId)).length, 500);
    },
  }),
  defineTask({
    name: "send only what is new",
    ask: "Store the folder notes once more; I added a file.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      const notes = numbered(20, (at) => `notes/${String(at)}.txt`);
      await writeTree(directory, { ...notes, "notes/new.txt": "new" });
      const ids = await storeTree(world.owner, id, notes);
      return {
        words: { folder: join(directory, "notes"), vault: title },
        known: { vaultId: id, old: ids["notes/0.txt"] ?? "" },
      };
    },
    play: async (agent, { folder, vault }) =>
      (await agent.call("file_upload", { paths: [folder], vaultId: vault })).text,
    verify: async ({ owner }, { vaultId, old }, told) => {
      assert.equal((await treeOf(owner, vaultId))["notes/new.txt"], "new");
      assert.equal((await owner.files.versions(old)).versions.length, 1);
      assert.match(told, /1 created, 20 unchanged/);
    },
  }),
  defineTask({
    name: "plan an upload",
    ask: "What would you upload from the folder plans? Do not do it yet.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await writeTree(join(directory, "plans"), { "a.txt": "a", "b.txt": "bb", ".env": "TOKEN=x" });
      return { words: { folder: join(directory, "plans"), vault: title }, known: id };
    },
    play: async (agent, { folder, vault }) =>
      (await agent.call("file_upload", { paths: [folder], vaultId: vault, dryRun: true })).text,
    verify: async ({ owner }, vaultId, told) => {
      assert.deepEqual(await treeOf(owner, vaultId), {});
      assert.match(told, /2 planned/);
      assert.match(told, /\.env/);
    },
  }),
  defineTask({
    name: "write a note",
    ask: "Note in the vault, under Minutes, that the meeting moved to Monday.",
    as: "agent",
    most: 1,
    prepare: (_world, { title }) => Promise.resolve({ words: `${title}.md`, known: `Minutes/${title}.md` }),
    play: async (agent, name) =>
      (await agent.call("file_write", { name, text: "The meeting is on Monday.", folder: "Minutes" })).text,
    verify: async (world, path) => {
      assert.equal((await treeOf(world.fresh(), world.books.id))[path], "The meeting is on Monday.");
    },
  }),
  defineTask({
    name: "replace a file and keep the old one",
    ask: "Here is the new price list; replace the old one.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      const ids = await storeTree(world.owner, id, { "prices.txt": "old" });
      await writeTree(directory, { "prices.txt": "new" });
      return { words: { file: join(directory, "prices.txt"), vault: title }, known: ids["prices.txt"] ?? "" };
    },
    play: async (agent, { file, vault }) =>
      (await agent.call("file_upload", { paths: [file], vaultId: vault, ifExists: "version" })).text,
    verify: async ({ owner }, fileId) => {
      assert.equal(await contentOf(owner, fileId), "new");
      const { versions } = await owner.files.versions(fileId);
      assert.equal(await contentOf(owner, fileId, versions[1]?.versionId), "old");
    },
  }),
  defineTask({
    name: "keep both",
    ask: "Store report.txt; if there is one of that name already, keep both.",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "report.txt": "theirs" });
      await writeTree(directory, { "report.txt": "mine" });
      return { words: { file: join(directory, "report.txt"), vault: title }, known: id };
    },
    play: async (agent, { file, vault }) =>
      (await agent.call("file_upload", { paths: [file], vaultId: vault, ifExists: "rename" })).text,
    verify: async ({ owner }, vaultId) => {
      const tree = await treeOf(owner, vaultId);
      assert.deepEqual([tree["report.txt"], Object.values(tree).sort()], ["theirs", ["mine", "theirs"]]);
    },
  }),
  defineTask({
    name: "do not write over somebody's change",
    ask: "Correct the title in draft.txt, unless somebody changed it since I looked.",
    as: "owner",
    most: 2,
    failures: ["precondition_failed"],
    prepare: async (world, { title }) => {
      const { id } = await world.publicVault(title);
      const ids = await storeTree(world.owner, id, { "draft.txt": "first" });
      const fileId = ids["draft.txt"] ?? "";
      const change = () => world.owner.files.replace(fileId, { body: "theirs" });
      return { words: { vault: title, meanwhile: change }, known: fileId };
    },
    play: async (agent, { vault, meanwhile }) => {
      const { facts } = await agent.call("file_get", { files: ["draft.txt"], vaultId: vault });
      await meanwhile();
      const wish = { name: "draft.txt", text: "mine", vaultId: vault, ifExists: "version" };
      return (await agent.call("file_write", { ...wish, expectedVersion: facts["versionId"] })).text;
    },
    verify: async ({ owner }, fileId) => {
      assert.equal(await contentOf(owner, fileId), "theirs");
    },
  }),
  defineTask({
    name: "is the copy whole",
    ask: "Is backup.bin in the vault the same as the one on my computer?",
    as: "owner",
    most: 1,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await storeTree(world.owner, id, { "backup.bin": "x".repeat(50_000) });
      await writeTree(directory, { "backup.bin": `${"x".repeat(49_999)}y` });
      return { words: { file: join(directory, "backup.bin"), vault: title }, known: null };
    },
    play: async (agent, { file, vault }) => {
      const { facts } = await agent.call("file_verify", { file: "backup.bin", path: file, vaultId: vault });
      return `intact ${String(facts["intact"])}, equal ${String(facts["equal"])}`;
    },
    verify: (_world, _known, told) => {
      assert.equal(told, "intact true, equal false");
      return Promise.resolve();
    },
  }),
  defineTask({
    name: "repeat after a failure",
    ask: "Store both files. Try again once the second one is there.",
    as: "owner",
    most: 2,
    prepare: async (world, { directory, title }) => {
      const { id } = await world.publicVault(title);
      await writeTree(directory, { "one.txt": "1" });
      const mend = () => writeFile(join(directory, "two.txt"), "2");
      await rm(join(directory, "two.txt"), { force: true });
      return {
        words: { files: ["one.txt", "two.txt"].map((name) => join(directory, name)), vault: title, mend },
        known: id,
      };
    },
    play: async (agent, { files, vault, mend }) => {
      const first = await agent.call("file_upload", { paths: files, vaultId: vault });
      const failed = first.rows.filter((row) => cell(row, "act") === "failed");
      if (failed.length === 0) return "nothing failed";
      await mend();
      return (await agent.call("file_upload", { paths: files, vaultId: vault })).text;
    },
    verify: async ({ owner }, vaultId, told) => {
      assert.deepEqual(await treeOf(owner, vaultId), { "one.txt": "1", "two.txt": "2" });
      assert.match(told, /1 created, 1 unchanged/);
    },
  }),
];
