/** Lists that span vaults: read per vault by its own index and merged, so that a small vault costs a small read. */
import type { Principal } from "../http/handlers.ts";
import type { Session } from "../ports/database.ts";
import { newestFirst } from "./paging.ts";
import { requireVault } from "./placing.ts";
import { listVaultIds } from "./vaults/store.ts";

/** The vaults a list reads one by one; a single null: the account as a whole, which has an index of its own. */
export type ReadVaults = readonly (string | null)[];

/**
 * A named vault (404 outside the caller's reach), else those a limited key reaches, else the whole account. `top` asks
 * for the tops of all vaults, which only a per-vault index finds.
 */
export async function vaultsToRead(
  session: Session,
  principal: Principal,
  wanted: { vaultId: string | undefined; top: boolean },
): Promise<ReadVaults> {
  if (wanted.vaultId !== undefined) {
    await requireVault(session, principal, wanted.vaultId);
    return [wanted.vaultId];
  }
  if (principal.vaultIds !== null) return [...principal.vaultIds];
  return wanted.top ? listVaultIds(session, principal.accountId) : [null];
}

/** At most `count` rows of all the vaults together, newest first; `read` answers the same of one vault. */
export async function mergeVaults<Row extends { id: string; created_at: number }>(
  vaults: ReadVaults,
  count: number,
  read: (vaultId: string | null) => Promise<Row[]>,
): Promise<Row[]> {
  const [first, ...rest] = vaults;
  if (first === undefined) return [];
  let merged = await read(first);
  for (const vaultId of rest) {
    const more = await read(vaultId);
    if (more.length > 0) merged = [...merged, ...more].sort(newestFirst).slice(0, count);
  }
  return merged;
}
