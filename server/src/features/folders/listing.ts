/** Which folders a list holds. */
import type { Principal } from "../../handler.ts";
import type { FolderRow } from "../../ports/tables.ts";
import { mergeVaults, nameFilter, refuseClearName, vaultsToRead } from "../items/listing.ts";
import type { PageRequest } from "../paging.ts";
import { readFolderFor } from "../reach/items.ts";
import { type ChainDeps, readVaultFor, requireSight } from "../reach/access.ts";
import { listFolders } from "./store.ts";

export interface FolderQuery {
  readonly vaultId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
  readonly nameIndex?: string | undefined;
}

/** One more row than the page holds. Throws `not_found` for a vault or parent outside the caller's reach, and what `requireSight` does. */
export async function listPage(
  deps: ChainDeps,
  principal: Principal,
  query: FolderQuery,
  { after, limit }: PageRequest,
): Promise<FolderRow[]> {
  const queries = deps.database;
  const filter = { ...nameFilter(query), trashed: query.trashed ?? false };
  if (query.parentId !== undefined && query.parentId !== "root") {
    if (query.vaultId !== undefined) await readVaultFor(queries, principal, query.vaultId);
    const { row: parent, vault } = await readFolderFor(queries, principal, query.parentId);
    await requireSight(deps, principal, vault);
    refuseClearName(vault, query);
    if (query.vaultId !== undefined && query.vaultId !== parent.vault_id) return [];
    const place = { accountId: parent.account_id, vaultId: parent.vault_id, parentId: parent.id };
    return listFolders(queries, { ...filter, ...place }, after, limit + 1);
  }
  const top = query.parentId === "root";
  const vaults = await vaultsToRead(deps, principal, { vaultId: query.vaultId, top, name: query.name });
  const parentId = top ? null : undefined;
  return mergeVaults(vaults, limit + 1, (vault) =>
    listFolders(queries, { ...filter, ...vault, parentId }, after, limit + 1),
  );
}
