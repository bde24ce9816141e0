/**
 * How long a vault keeps what was replaced. The vault's row says a new time for all of it at once (items/retention-store.ts); the rows
 * of versions and entries follow, some in each transaction, so that nobody waits for all of them.
 */
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import { type AccountAct, type ActDeps, actOn } from "../account/act.ts";
import {
  endPendingRetention,
  findPendingRetention,
  KEPT_TABLES,
  listPendingRetentions,
  type PendingRetention,
  writeEnds,
} from "../items/retention-store.ts";

type Limits = Pick<Deps, "settings">;

/** Writes some of the rows, and with the last of them that none is left. False: there was none. */
export async function writeSomeEnds(
  transaction: Queries,
  { settings }: Limits,
  { id, pending_retention: time }: PendingRetention,
): Promise<boolean> {
  let left = settings.limits.actRows;
  for (const table of KEPT_TABLES)
    for (const which of ["shorter", "longer"] as const) {
      left -= await writeEnds(transaction, table, { vaultId: id, time, which, most: left });
      if (left <= 0) return true;
    }
  await endPendingRetention(transaction, id);
  return false;
}

/** Goes on with the vaults whose rows have yet to follow. Cut off anywhere, the next call goes on, in whichever process. */
export async function finishRetentionChanges(
  deps: ActDeps & Limits,
  signal: AbortSignal,
): Promise<{ finished: number }> {
  let finished = 0;
  for (const { id, account_id: accountId } of await listPendingRetentions(deps.database)) {
    const step = async (act: AccountAct): Promise<boolean> => {
      const vault = await findPendingRetention(act, id);
      if (vault === null || vault.pending_retention === null) return false;
      act.requireAccount(vault.account_id);
      return writeSomeEnds(act, deps, { id, pending_retention: vault.pending_retention });
    };
    do if (signal.aborted) return { finished };
    while (await actOn(deps, accountId, step, { freesSpace: true }));
    finished += 1;
  }
  return { finished };
}
