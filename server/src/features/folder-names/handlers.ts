/** The keys of folders' name indexes over HTTP (encryption design §2, "Names"). */
import type { api } from "@coffer/contract";
import type { GroupHandlers, Principal } from "../../handler.ts";
import { notFound } from "../acting.ts";
import { readFolderFor } from "../reach/items.ts";
import { readVaultFor, requireMember, requireShared, type SeenVault } from "../reach/access.ts";
import { refuseInTree } from "../tree-acts/acts.ts";
import { stageNames, type FolderNamesDeps } from "./staging.ts";
import { findFolderKey, holdsOthers } from "./store.ts";

export const folderNamesHandlers = (deps: FolderNamesDeps): GroupHandlers<typeof api.folderNames> => ({
  get: async ({ params, query }, { principal }) => {
    const vault = await readVaultFor(deps.database, principal, params.vaultId);
    requireShared(vault);
    await requireFolder(deps, principal, vault, query.folderId ?? null);
    await requireMember(deps, principal, vault);
    await refuseInTree(deps.database, vault.id, query.folderId ?? null);
    const folder = { vaultId: vault.id, folderId: query.folderId ?? "" };
    const isEmpty = !(await holdsOthers(deps.database, folder, ""));
    // An empty folder takes the key of the first entry that comes, whatever it had before.
    return { folderId: query.folderId ?? null, keyId: isEmpty ? null : await findFolderKey(deps.database, folder) };
  },
  stage: async ({ params, body }, { principal }) => {
    const vault = await readVaultFor(deps.database, principal, params.vaultId);
    requireShared(vault);
    await requireFolder(deps, principal, vault, body.folderId);
    return stageNames(deps, principal, vault, body);
  },
});

async function requireFolder(
  { database }: FolderNamesDeps,
  principal: Principal,
  vault: SeenVault,
  folderId: string | null,
): Promise<void> {
  if (folderId === null) return;
  const { row } = await readFolderFor(database, principal, folderId);
  if (row.vault_id !== vault.id) throw notFound("Folder");
}
