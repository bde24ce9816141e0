/** Where a new or moved item may go: a vault the caller reaches, and perhaps a live folder in it. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { reaches } from "../acting.ts";
import { readQuota } from "../account/store.ts";
import { readFolderFor, type SeenFolder } from "../reach/items.ts";
import { readVaultFor, type SeenVault } from "../reach/access.ts";
import { refuseInTree } from "../tree-acts/acts.ts";

export interface WantedPlace {
  readonly vaultId: string | undefined;
  /** null and undefined: the top of the vault. */
  readonly folderId: string | null | undefined;
}

export interface FoundPlace {
  /** The vault's account, whose storage is used. */
  readonly accountId: string;
  readonly vaultId: string;
  readonly folderId: string | null;
  /** Depth of the folder, 0 at the top of the vault. */
  readonly depth: number;
  /** null: a public vault. */
  readonly vault: SeenVault | null;
}

/**
 * Without a vault: the folder's, else the account's default vault (decisions §5), which is a public one. Throws `not_found`,
 * `vault_required` when a limited key does not reach the default vault, `different_vault`, `trashed`, and `tree_busy`.
 */
export async function findPlace(queries: Queries, principal: Principal, wanted: WantedPlace): Promise<FoundPlace> {
  const named = wanted.vaultId === undefined ? null : await readVaultFor(queries, principal, wanted.vaultId);
  if (wanted.folderId === undefined || wanted.folderId === null) {
    if (named !== null) return placeIn(named, null);
    const { accountId } = principal;
    return { accountId, vaultId: await defaultVault(queries, principal), folderId: null, depth: 0, vault: null };
  }
  const folder = await readFolderFor(queries, principal, wanted.folderId);
  if (named !== null && folder.row.vault_id !== named.id) throw new ServiceError("different_vault");
  if (folder.row.trashed_at !== null) throw new ServiceError("trashed", "The folder is in the trash");
  await refuseInTree(queries, folder.row.vault_id, folder.row.id);
  return folder.vault === null ? placeInFolder(folder) : placeIn(folder.vault, folder.row);
}

function placeIn(vault: SeenVault, folder: SeenFolder["row"] | null): FoundPlace {
  return {
    accountId: vault.account_id,
    vaultId: vault.id,
    folderId: folder?.id ?? null,
    depth: folder?.depth ?? 0,
    vault: vault.type === "shared" ? vault : null,
  };
}

function placeInFolder({ row }: SeenFolder): FoundPlace {
  return { accountId: row.account_id, vaultId: row.vault_id, folderId: row.id, depth: row.depth, vault: null };
}

async function defaultVault(queries: Queries, principal: Principal): Promise<string> {
  const { default_vault_id } = await readQuota(queries, principal.accountId);
  if (!reaches(principal, default_vault_id)) throw new ServiceError("vault_required");
  return default_vault_id;
}
