import type { File, Folder, Vault } from "@coffer/sdk";
import { command, optionalArgument } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";
import { fileRow, folderRow, itemColumns, reportClosed } from "../item-rows.ts";
import { vaultIdOf } from "../vault-paths.ts";

export default command({
  brief: "List what is in the trash",
  description: "Each item stays there for 30 days.",
  examples: [
    { line: "coffer trash list", does: "of all vaults, and the vaults in it" },
    { line: 'coffer trash list "Team"', does: "of one" },
  ],
  args: [optionalArgument("vault", "Name or id of a vault; all without it")] as const,
  isList: true,
  run: async (context, _flags, [vault]) => {
    const { client, signal, task } = context;
    const vaultFilter = vault === undefined ? {} : { vaultId: await vaultIdOf(task, vault.replace(/:$/, "")) };
    const { files, folders, trash } = await client();
    const query = { ...vaultFilter, trashed: true, limit: 1_000 };
    const [trashedFolders, trashedFiles]: [Folder[], File[]] = [[], []];
    for await (const folder of folders.list(query, { signal })) trashedFolders.push(folder);
    for await (const file of files.list(query, { signal })) trashedFiles.push(file);
    const vaults: Vault[] = [];
    if (vault === undefined) for await (const each of trash.vaults({ limit: 1_000 }, { signal })) vaults.push(each);
    const items = [...trashedFolders.map(folderRow), ...trashedFiles.map(fileRow)];
    const rows = [...vaults.map((each) => ({ kind: "vault" as const, ...each })), ...items];
    const trashed = { title: "trashed", of: (row: (typeof rows)[number]) => timeText(row.trashedAt) };
    return listing({
      name: "items",
      items: rows,
      columns: itemColumns(rows, [trashed]),
      empty: "The trash is empty.",
      after: vaults.length === 0 ? [] : ["Bring a vault back with all that is in it: coffer vaults restore VAULT"],
      exit: reportClosed(context, items),
    });
  },
});
