import { ROOT } from "@coffer/tasks";
import type { Folder } from "@coffer/sdk";
import { argument, command, toggle } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { folderRow, itemColumns, reportClosed } from "../item-rows.ts";
import { folderAt, VAULT } from "../vault-paths.ts";

export default command({
  brief: "List the folders of a place",
  examples: [
    { line: 'coffer folders list "Team:"', does: "those at the top" },
    { line: "coffer folders list Team: --recursive --json", does: "all of the vault, with their parents" },
  ],
  flags: { vault: VAULT, recursive: toggle("All folders of the vault") },
  args: [argument("place", "VAULT:, VAULT:PATH or the id of a folder")] as const,
  isList: true,
  run: async (context, { recursive, vault }, [folderText]) => {
    const { client, signal, task } = context;
    const { folder, vaultId } = await folderAt(task, folderText, vault);
    const query = { vaultId, limit: 1_000, ...(recursive ? {} : { parentId: folder?.id ?? ROOT }) };
    const folders: Folder[] = [];
    for await (const each of (await client()).folders.list(query, { signal })) folders.push(each);
    const rows = folders.map(folderRow);
    return listing({
      name: "folders",
      items: rows,
      columns: itemColumns(rows),
      empty: "No folders.",
      exit: reportClosed(context, rows),
    });
  },
});
