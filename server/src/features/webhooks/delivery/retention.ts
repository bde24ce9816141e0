/** Removes what webhooks leave behind: deliveries after 30 days (the contract's DELIVERY_DAYS), and secrets that were rotated. */
import { DELIVERY_DAYS } from "@coffer/contract";
import type { Deps } from "../../../deps.ts";
import { deleteOldDeliveries } from "../deliveries-store.ts";
import { forgetEndedSecrets } from "../store.ts";

/** Rows of one transaction: requests run in between. */
const BATCH = 200;
const DAY = 24 * 60 * 60_000;

/**
 * With their payloads and attempts. Those that never arrived too: this is the bound of the queue of an endpoint that is paused or turned off. No schedule is
 * as long, so nothing that is still being tried is among them.
 */
export async function removeOldDeliveries(
  { database, clock }: Pick<Deps, "database" | "clock">,
  signal: AbortSignal,
): Promise<{ removed: number }> {
  const cutoff = clock.now() - DELIVERY_DAYS * DAY;
  let removed = 0;
  while (!signal.aborted) {
    const count = await database.transaction(
      (transaction) => deleteOldDeliveries(transaction, { cutoff, limit: BATCH }),
      { freesSpace: true },
    );
    removed += count;
    if (count < BATCH) break;
  }
  return { removed };
}

/** Secrets that have ended sign nothing any more; in the database they would be one leak more. */
export async function removeEndedSecrets({
  database,
  clock,
}: Pick<Deps, "database" | "clock">): Promise<{ removed: number }> {
  return { removed: await database.run(forgetEndedSecrets(database, { now: clock.now() })) };
}
