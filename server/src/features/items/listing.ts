/** Which files or folders a list holds. Lists that span vaults: read per vault by its own index and merged, so that a small vault costs a small read. */
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { reaches } from "../acting.ts";
import { newestFirst, type PageRequest } from "../paging.ts";
import { readFolderFor } from "../reach/items.ts";
import type { ItemKind } from "../reach/kinds.ts";
import { idRangeOf, requireFew } from "./id-prefix.ts";
import { listItems, type ListedRows } from "./store.ts";
import { type ChainDeps, readVaultFor, requireSight, type SeenVault } from "../reach/access.ts";
import { hasTrashedVault, listLiveVaults } from "../reach/store.ts";

/** A vault that a list reads, with its account; null: the account as a whole, which has an index of its own. */
interface ReadVault {
  readonly accountId: string;
  readonly vaultId: string | null;
}

/**
 * A named vault, else those a limited key reaches, else the whole account. A vault outside the caller's reach is 404,
 * and 403 for a member that the chain no longer names. `perVault` asks for the tops of all vaults, which only a per-vault
 * index finds, and so does a name. So does an account with vaults in the trash, whose content no list shows. Shared vaults of other
 * accounts are read by their name alone.
 */
async function vaultsToRead(
  deps: ChainDeps,
  principal: Principal,
  wanted: { vaultId: string | undefined; perVault: boolean; name: string | undefined },
): Promise<readonly ReadVault[]> {
  const { accountId } = principal;
  if (wanted.vaultId !== undefined) {
    const vault = await readVaultFor(deps.database, principal, wanted.vaultId);
    await requireSight(deps, principal, vault);
    refuseClearName(vault, wanted);
    return [{ accountId: vault.account_id, vaultId: vault.id }];
  }
  const ofAccount = (vaultId: string): ReadVault => ({ accountId, vaultId });
  const hasTrashed = await hasTrashedVault(deps.database, accountId);
  if (!hasTrashed && principal.vaultIds !== null) return [...principal.vaultIds].map(ofAccount);
  if (!hasTrashed && !wanted.perVault) return [{ accountId, vaultId: null }];
  const live = (await listLiveVaults(deps.database, accountId)).filter(({ id }) => reaches(principal, id));
  return live.map(({ id }) => ofAccount(id));
}

/** Throws `validation_failed` for a name in the clear where names are encrypted: no such vault can be asked for it. */
function refuseClearName(
  vault: Pick<SeenVault, "type" | "plain_names"> | null,
  { name }: { readonly name?: string | undefined },
): void {
  if (name !== undefined && vault?.type === "shared" && vault.plain_names !== 1)
    throw new ServiceError("validation_failed", "query.name: this vault's names are encrypted, look for nameIndex");
}

/** At most `count` rows of all the vaults together, newest first; `read` returns the same of one vault. */
async function mergeVaults<Row extends { id: string; created_at: number }>(
  vaults: readonly ReadVault[],
  count: number,
  read: (vault: ReadVault) => Promise<Row[]>,
): Promise<Row[]> {
  const [first, ...rest] = vaults;
  if (first === undefined) return [];
  let merged = await read(first);
  for (const vault of rest) {
    const more = await read(vault);
    if (more.length > 0) merged = [...merged, ...more].sort(newestFirst).slice(0, count);
  }
  return merged;
}

/** The filter that a query's `name` or `nameIndex` makes; both columns are one. Throws `validation_failed` for the two together. */
function nameFilter(query: { readonly name?: string | undefined; readonly nameIndex?: string | undefined }): {
  readonly name: string | undefined;
  readonly byIndex: boolean;
} {
  if (query.name !== undefined && query.nameIndex !== undefined)
    throw new ServiceError("validation_failed", "query.nameIndex: send name or nameIndex, not both");
  return { name: query.name ?? query.nameIndex, byIndex: query.nameIndex !== undefined };
}

export interface ItemQuery {
  readonly vaultId?: string | undefined;
  /** "root": the top of the vault. */
  readonly folderId?: string | undefined;
  readonly trashed?: boolean | undefined;
  readonly name?: string | undefined;
  readonly nameIndex?: string | undefined;
  readonly idPrefix?: string | undefined;
}

/**
 * One more row than the page holds. Throws `not_found` for a vault or folder outside the caller's reach, and the
 * errors of `requireSight`. A key of the vault's account sees its list, a member on the chain or not. Ids, sizes and
 * dates are the service's own, and names are encrypted (decisions §0).
 */
export async function listPage<Kind extends ItemKind>(
  deps: ChainDeps,
  principal: Principal,
  kind: Kind,
  query: ItemQuery,
  { after, limit }: PageRequest,
): Promise<ListedRows[Kind][]> {
  const queries = deps.database;
  const ids = idRangeOf(query.idPrefix);
  if (ids !== null) await requireFew(queries, kind, ids);
  const named = nameFilter(query);
  const filter = { ...named, trashed: query.trashed ?? false, ids };
  if (query.folderId !== undefined && query.folderId !== "root") {
    if (query.vaultId !== undefined) await readVaultFor(queries, principal, query.vaultId);
    const { row: folder, vault } = await readFolderFor(queries, principal, query.folderId);
    await requireSight(deps, principal, vault);
    refuseClearName(vault, query);
    if (query.vaultId !== undefined && query.vaultId !== folder.vault_id) return [];
    const place = { accountId: folder.account_id, vaultId: folder.vault_id, folderId: folder.id };
    return listItems(queries, kind, { ...filter, ...place }, after, limit + 1);
  }
  const top = query.folderId === "root";
  const vaults = await vaultsToRead(deps, principal, {
    vaultId: query.vaultId,
    name: query.name,
    perVault: top || named.name !== undefined,
  });
  const folderId = top ? null : undefined;
  return mergeVaults(vaults, limit + 1, (vault) =>
    listItems(queries, kind, { ...filter, ...vault, folderId }, after, limit + 1),
  );
}
