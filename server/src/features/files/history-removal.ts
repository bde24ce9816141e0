/**
 * What a file or folder that is gone for good was before: its versions and entries. Nothing counts or shows them from the act on that
 * deleted it. A few go in that act; of many, a row says that they are to go, and a job removes them, some in each transaction.
 */
import type { Deps } from "../../deps.ts";
import { type AccountAct, type ActDeps, actOn } from "../account/act.ts";
import { releaseStored } from "../budgets/spending.ts";
import { countVersionsOf, hasVersions, removeSomeVersions } from "./kept-versions-store.ts";
import { BLOB_GRACE_MS } from "./store.ts";
import type { EndedItemRow } from "../../ports/tree-act-tables.ts";
import { hasEntries, removeSomeEntries } from "../items/entries-store.ts";
import {
  countQueued,
  findEndedItem,
  insertEndedItem,
  listEndedItems,
  removeEndedItem,
} from "../items/history-removal-store.ts";

type Limits = Pick<Deps, "clock" | "settings">;

type Ended = Pick<EndedItemRow, "item_id" | "reason">;

/** In the act that deletes the item. */
export async function removeHistory(
  act: AccountAct,
  deps: Limits,
  { id, vault_id, reason }: { readonly id: string; readonly vault_id: string; readonly reason: Ended["reason"] },
): Promise<void> {
  const counted = await countVersionsOf(act, id);
  for (const { budgetId, bytes } of counted) await releaseStored(act, budgetId, bytes);
  const bytes = counted.reduce((sum, row) => sum + row.bytes, 0);
  act.countVersions(-bytes);
  act.free({ bytes, files: 0 });
  const removed = await removeSome(act, deps, { item_id: id, reason });
  if (removed.isLeft)
    await insertEndedItem(act, {
      item_id: id,
      account_id: act.account.id,
      vault_id,
      reason,
      bytes: bytes - removed.bytes,
    });
}

/** As many as the act may still write. `bytes`: those of the versions. */
async function removeSome(
  act: AccountAct,
  { clock, settings }: Limits,
  { item_id: id, reason }: Ended,
): Promise<{ readonly isLeft: boolean; readonly bytes: number }> {
  const room = (): number => Math.max(0, settings.limits.actRows - act.writtenRows);
  const notBefore = clock.now() + BLOB_GRACE_MS;
  // Each makes a row in the queue.
  const bytes = await removeSomeVersions(act, { fileId: id, most: Math.floor(room() / 2), notBefore, reason });
  await removeSomeEntries(act, id, room());
  const isLeft = room() <= 1 && ((await hasVersions(act, id)) || (await hasEntries(act, id)));
  return { isLeft, bytes };
}

/** Goes on with what acts have left. Cut off anywhere, the next call goes on, in whichever process. */
export async function finishHistoryRemovals(
  deps: ActDeps & Limits,
  signal: AbortSignal,
): Promise<{ finished: number }> {
  let finished = 0;
  for (const { item_id: id, account_id: accountId } of await listEndedItems(deps.database)) {
    const step = async (act: AccountAct): Promise<boolean> => {
      const item = await findEndedItem(act, id);
      if (item === null) return false;
      act.requireAccount(item.account_id);
      const { isLeft, bytes } = await removeSome(act, deps, item);
      await (isLeft ? countQueued(act, id, bytes) : removeEndedItem(act, id));
      return isLeft;
    };
    do if (signal.aborted) return { finished };
    while (await actOn(deps, accountId, step, { freesSpace: true }));
    finished += 1;
  }
  return { finished };
}
