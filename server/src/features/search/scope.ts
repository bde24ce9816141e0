/** Which files a caller may find: of one account, in its vaults, below a folder. */
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { reaches } from "../acting.ts";
import { type ChainDeps, readVaultFor, requireSight, type SeenVault } from "../reach/access.ts";
import { readFolderFor } from "../reach/items.ts";
import { hasTrashedVault, listLiveVaults } from "../reach/store.ts";
import { findParent, listFoldersBelow } from "../tree-acts/store.ts";

export interface Scope {
  readonly accountId: string;
  /** null: all of the account. */
  readonly vaultIds: ReadonlySet<string> | null;
  /** null: wherever in the vaults. */
  readonly below: Below | null;
}

export interface Below {
  /** The folder and all below it; null: there are too many to name. */
  readonly folderIds: readonly string[] | null;
  has(queries: Queries, folderId: string | null): Promise<boolean>;
}

/** Most folders that a search names. */
const NAMED_FOLDERS = 200;

/**
 * null: nothing can be found. Throws `not_found` for a vault or folder outside the caller's reach, and what {@link requireSight} throws.
 * Throws `validation_failed` for a vault whose names only its members can read.
 */
export async function readScope(
  deps: ChainDeps,
  principal: Principal,
  query: { readonly vaultId?: string | undefined; readonly folderId?: string | undefined },
): Promise<Scope | null> {
  const queries = deps.database;
  const vault = query.vaultId === undefined ? null : await readVaultFor(queries, principal, query.vaultId);
  if (vault !== null) await readable(deps, principal, vault, "vaultId");
  if (query.folderId !== undefined) {
    const { row: folder, vault: home } = await readFolderFor(queries, principal, query.folderId);
    if (home !== null) await readable(deps, principal, home, "folderId");
    if (vault !== null && vault.id !== folder.vault_id) return null;
    const below = await readBelow(queries, folder.id);
    return { accountId: folder.account_id, vaultIds: new Set([folder.vault_id]), below };
  }
  if (vault !== null) return { accountId: vault.account_id, vaultIds: new Set([vault.id]), below: null };
  const { accountId, vaultIds } = principal;
  if (!(await hasTrashedVault(queries, accountId))) return { accountId, vaultIds, below: null };
  const live = (await listLiveVaults(queries, accountId)).map(({ id }) => id);
  return { accountId, vaultIds: new Set(live.filter((id) => reaches(principal, id))), below: null };
}

async function readable(deps: ChainDeps, principal: Principal, vault: SeenVault, field: string): Promise<void> {
  await requireSight(deps, principal, vault);
  if (vault.type === "shared" && vault.plain_names !== 1)
    throw new ServiceError(
      "validation_failed",
      `query.${field}: only members can read the names of this vault, search them with a client of theirs`,
    );
}

async function readBelow(queries: Queries, rootId: string): Promise<Below> {
  const ids = await listFoldersBelow(queries, rootId, NAMED_FOLDERS + 1);
  if (ids.length <= NAMED_FOLDERS) {
    const set = new Set(ids);
    return { folderIds: ids, has: (_, folderId) => Promise.resolve(folderId !== null && set.has(folderId)) };
  }
  const known = new Map<string, boolean>([[rootId, true]]);
  return { folderIds: null, has: (at, folderId) => liesBelow(at, folderId, known) };
}

/** Climbs to the root or the top of the vault, and remembers what it has learnt. */
async function liesBelow(queries: Queries, folderId: string | null, known: Map<string, boolean>): Promise<boolean> {
  const path: string[] = [];
  let found: boolean | undefined;
  for (let at = folderId; found === undefined;) {
    found = at === null || path.includes(at) ? false : known.get(at);
    if (at === null || found !== undefined) break;
    path.push(at);
    at = await findParent(queries, at);
  }
  for (const id of path) known.set(id, found === true);
  return found === true;
}
