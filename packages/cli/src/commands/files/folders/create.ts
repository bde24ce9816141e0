import { ensureFolder, segmentsOf, TaskFailure, walkFolders } from "@coffer/tasks";
import { argument, command } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { folderRow } from "../item-rows.ts";
import { isTop, resolveVaultPath, VAULT } from "../vault-paths.ts";

export default command({
  brief: "Create a folder, with the missing ones above it",
  examples: [{ line: 'coffer folders create "Team:2027/May"', does: "makes 2027 too, if it is missing" }],
  flags: { vault: VAULT },
  args: [argument("place", "VAULT:PATH")] as const,
  run: async ({ client, signal, task }, { vault }, [folderText]) => {
    const { path, vaultId } = await resolveVaultPath(task, folderText, vault);
    if (vaultId === null || isTop(path)) throw usage("A new folder needs a path", "coffer folders create VAULT:PATH");
    const { missing } = await walkFolders(task, vaultId, segmentsOf(path));
    if (missing.length === 0) throw new TaskFailure("name_exists");
    const id = await ensureFolder(task, vaultId, path);
    const folder = await (await client()).folders.get(id ?? "", { signal });
    return done({ folder: folderRow(folder) }, [`Created ${folder.id}`]);
  },
});
