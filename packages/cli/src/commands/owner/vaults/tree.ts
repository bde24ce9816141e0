import { findVault, untrusted } from "@coffer/tasks";
import { command, count, toggle } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { reportClosed } from "../../files/item-rows.ts";
import { VAULT } from "../vault-argument.ts";
import { treeLines, treeOf } from "./item-tree.ts";

export default command({
  brief: "Show the folders and files of a vault as a tree",
  examples: [
    { line: "coffer vaults tree Team", does: "everything" },
    { line: "coffer vaults tree Team --folders --depth 2", does: "two levels of folders" },
  ],
  flags: { folders: toggle("Show only folders"), depth: count("Show so many levels; all without it") },
  args: [VAULT] as const,
  run: async (context, { folders, depth = Number.POSITIVE_INFINITY }, [nameOrId]) => {
    const { task, signal } = context;
    const vault = await findVault(task, nameOrId);
    const client = await context.client();
    const listed = { folders: await all(client.folders.list({ vaultId: vault.id, limit: 1000 }, { signal })) };
    const files = folders ? [] : await all(client.files.list({ vaultId: vault.id, limit: 1000 }, { signal }));
    const tree = treeOf(listed.folders, files, depth);
    const lines = [
      untrusted(vault.name),
      ...treeLines(tree.items),
      `${String(listed.folders.length)} folders${folders ? "" : `, ${String(files.length)} files`}`,
    ];
    const exit = reportClosed(context, [...listed.folders, ...files]);
    return done({ vaultId: vault.id, name: vault.name, ...tree }, lines, { exit });
  },
});

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
