/** Which files a list holds. */
import type { Principal } from "../../http/handlers.ts";
import type { Session } from "../../ports/database.ts";
import type { FileRow } from "../../ports/tables.ts";
import { mergeVaults, vaultsToRead } from "../listing.ts";
import type { PageRequest } from "../paging.ts";
import { readFolder, requireVault } from "../placing.ts";
import { listFiles } from "./store.ts";

export interface FileQuery {
  readonly vaultId?: string | undefined;
  readonly folderId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
}

/** One more row than the page holds. Throws `not_found` for a vault or folder outside the caller's reach. */
export async function listPage(
  session: Session,
  principal: Principal,
  query: FileQuery,
  { after, limit }: PageRequest,
): Promise<FileRow[]> {
  const filter = { accountId: principal.accountId, name: query.name, trashed: query.trashed ?? false };
  if (query.folderId !== undefined && query.folderId !== "root") {
    if (query.vaultId !== undefined) await requireVault(session, principal, query.vaultId);
    const folder = await readFolder(session, principal, query.folderId);
    if (query.vaultId !== undefined && query.vaultId !== folder.vault_id) return [];
    return listFiles(session, { ...filter, vaultId: folder.vault_id, folderId: folder.id }, after, limit + 1);
  }
  const top = query.folderId === "root";
  const vaults = await vaultsToRead(session, principal, { vaultId: query.vaultId, top });
  const folderId = top ? null : undefined;
  return mergeVaults(vaults, limit + 1, (vaultId) =>
    listFiles(session, { ...filter, vaultId, folderId }, after, limit + 1),
  );
}
