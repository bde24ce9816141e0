/** Where a new or moved item may go: a vault the caller reaches, and perhaps a live folder in it. */
import { ServiceError } from "../http/errors.ts";
import type { Principal } from "../http/handlers.ts";
import type { Session } from "../ports/database.ts";
import type { FolderRow } from "../ports/tables.ts";
import { notFound, reaches, visible } from "./acting.ts";
import { readQuota } from "./files/store.ts";
import { findFolder } from "./folders/store.ts";
import { findVault } from "./vaults/store.ts";

export interface WantedPlace {
  readonly vaultId: string | undefined;
  /** null and undefined: the top of the vault. */
  readonly folderId: string | null | undefined;
}

export interface FoundPlace {
  readonly vaultId: string;
  readonly folderId: string | null;
  /** Of the folder, 0 at the top of the vault. */
  readonly depth: number;
}

/**
 * Without a vault: the folder's, else the account's default vault (decisions §5). Throws `not_found`, `vault_required`
 * when a limited key does not reach the default vault, `different_vault`, and `trashed`.
 */
export async function findPlace(session: Session, principal: Principal, wanted: WantedPlace): Promise<FoundPlace> {
  if (wanted.vaultId !== undefined) await requireVault(session, principal, wanted.vaultId);
  if (wanted.folderId === undefined || wanted.folderId === null) {
    return { vaultId: wanted.vaultId ?? (await defaultVault(session, principal)), folderId: null, depth: 0 };
  }
  const folder = await readFolder(session, principal, wanted.folderId);
  if (wanted.vaultId !== undefined && folder.vault_id !== wanted.vaultId) throw new ServiceError("different_vault");
  if (folder.trashed_at !== null) throw new ServiceError("trashed", "The folder is in the trash");
  return { vaultId: folder.vault_id, folderId: folder.id, depth: folder.depth };
}

/** A folder the caller may see, in the trash or not, else 404. */
export async function readFolder(session: Session, principal: Principal, id: string): Promise<FolderRow> {
  return visible(principal, await findFolder(session, { id, accountId: principal.accountId }), "Folder");
}

/** 404 unless the vault exists within the caller's reach. */
export async function requireVault(session: Session, principal: Principal, id: string): Promise<void> {
  if (!reaches(principal, id)) throw notFound("Vault");
  if ((await findVault(session, { id, accountId: principal.accountId })) === null) throw notFound("Vault");
}

async function defaultVault(session: Session, principal: Principal): Promise<string> {
  const { default_vault_id } = await readQuota(session, principal.accountId);
  if (!reaches(principal, default_vault_id)) throw new ServiceError("vault_required");
  return default_vault_id;
}
