import { findFolder, renameItem, vaultOf, type Item } from "@coffer/tasks";
import { argument, command, text } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { folderRow } from "../item-rows.ts";
import { folderAt, isTop, resolveVaultPath, VAULT } from "../vault-paths.ts";

export default command({
  brief: "Rename or move a folder",
  examples: [
    { line: "coffer folders update Team:2027 --name 2028", does: "rename" },
    { line: "coffer folders update Team:2028/May --to Team:archive", does: "move" },
  ],
  flags: {
    vault: VAULT,
    name: text("New name", { placeholder: "NAME" }),
    to: text("Folder to move it into: VAULT:PATH, or VAULT: for the top", { placeholder: "PLACE" }),
  },
  args: [argument("folder", "VAULT:PATH or an id")] as const,
  run: async ({ client, signal, task }, { name, to, vault }, [folderText]) => {
    if (name === undefined && to === undefined)
      throw usage("Nothing is to be changed", "pass --name NAME, --to PLACE, or both");
    const { folder } = await folderAt(task, folderText, vault);
    if (folder === null) throw usage("This is the top of a vault", "coffer vaults update --name NAME VAULT");
    const item: Item = { kind: "folder", id: folder.id, folder };
    const target = to === undefined ? undefined : await resolveVaultPath(task, to, vault);
    const into =
      target === undefined
        ? undefined
        : isTop(target.path)
          ? null
          : ((await findFolder(task, vaultOf(item), target.path))?.id ?? null);
    await renameItem(task, item, name ?? folder.name, into);
    const changed = await (await client()).folders.get(folder.id, { signal });
    return done({ folder: folderRow(changed) }, [`Changed ${changed.id}`]);
  },
});
