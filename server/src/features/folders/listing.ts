/** Which folders a list holds. */
import type { Principal } from "../../http/handlers.ts";
import type { Session } from "../../ports/database.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { mergeVaults, vaultsToRead } from "../listing.ts";
import type { PageRequest } from "../paging.ts";
import { readFolder, requireVault } from "../placing.ts";
import { listFolders } from "./store.ts";

export interface FolderQuery {
  readonly vaultId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
}

/** One more row than the page holds. Throws `not_found` for a vault or parent outside the caller's reach. */
export async function listPage(
  session: Session,
  principal: Principal,
  query: FolderQuery,
  { after, limit }: PageRequest,
): Promise<FolderRow[]> {
  const filter = { accountId: principal.accountId, name: query.name, trashed: query.trashed ?? false };
  if (query.parentId !== undefined && query.parentId !== "root") {
    if (query.vaultId !== undefined) await requireVault(session, principal, query.vaultId);
    const parent = await readFolder(session, principal, query.parentId);
    if (query.vaultId !== undefined && query.vaultId !== parent.vault_id) return [];
    return listFolders(session, { ...filter, vaultId: parent.vault_id, parentId: parent.id }, after, limit + 1);
  }
  const top = query.parentId === "root";
  const vaults = await vaultsToRead(session, principal, { vaultId: query.vaultId, top });
  const parentId = top ? null : undefined;
  return mergeVaults(vaults, limit + 1, (vaultId) =>
    listFolders(session, { ...filter, vaultId, parentId }, after, limit + 1),
  );
}
