/** Which files a list holds. */
import type { Principal } from "../../handler.ts";
import type { FileRow } from "../../ports/tables.ts";
import { mergeVaults, nameFilter, refuseClearName, vaultsToRead } from "../items/listing.ts";
import type { PageRequest } from "../paging.ts";
import { readFolderFor } from "../reach/items.ts";
import { type ChainDeps, readVaultFor, requireSight } from "../reach/access.ts";
import { listFiles } from "./store.ts";

export interface FileQuery {
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
  readonly nameIndex?: string | undefined;
}

/**
 * One more row than the page holds. Throws `not_found` for a vault or folder outside the caller's reach, and what `requireSight` does. A
 * key of the vault's account sees its list, a member on the chain or not: ids, sizes and dates are the service's own, names are encrypted
 * (decisions §0).
 */
export async function listPage(
  deps: ChainDeps,
  principal: Principal,
  query: FileQuery,
  { after, limit }: PageRequest,
): Promise<FileRow[]> {
  const queries = deps.database;
  const filter = { ...nameFilter(query), trashed: query.trashed ?? false };
  if (query.folderId !== undefined && query.folderId !== "root") {
    if (query.vaultId !== undefined) await readVaultFor(queries, principal, query.vaultId);
    const { row: folder, vault } = await readFolderFor(queries, principal, query.folderId);
    await requireSight(deps, principal, vault);
    refuseClearName(vault, query);
    if (query.vaultId !== undefined && query.vaultId !== folder.vault_id) return [];
    const place = { accountId: folder.account_id, vaultId: folder.vault_id, folderId: folder.id };
    return listFiles(queries, { ...filter, ...place }, after, limit + 1);
  }
  const top = query.folderId === "root";
  const vaults = await vaultsToRead(deps, principal, { vaultId: query.vaultId, top, name: query.name });
  const folderId = top ? null : undefined;
  return mergeVaults(vaults, limit + 1, (vault) =>
    listFiles(queries, { ...filter, ...vault, folderId }, after, limit + 1),
  );
}
