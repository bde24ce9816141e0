/**
 * An account's storage that is neither used, nor held by an unfinished upload, nor taken by deleted bytes that are
 * still on the disk (docs/decisions/0027-bytes-in-flight.md).
 */
import type { Deps } from "../../deps.ts";
import type { AccountAct } from "../account/act.ts";
import { limitsOf } from "../account/rules.ts";
import { latestEnd } from "../../ports/stored-ends.ts";
import { holdLifetime, KEPT_AFTER_EXPIRY_MS } from "./rules.ts";
import { sumGivenUp, sumHeldBytes, sumHolds } from "./store.ts";

/** Bytes. Nobody else claims them until the act ends. Below 0 for an account above its quota. `freed`: what the finished upload gives back. */
export async function readFreeStorage(
  act: AccountAct,
  { clock, settings }: Pick<Deps, "clock" | "settings">,
  freed: number,
): Promise<number> {
  const now = clock.now();
  const { id: accountId, plan, usage_bytes } = act.account;
  const resumable = await sumHeldBytes(act, { accountId, rowsAfter: now + KEPT_AFTER_EXPIRY_MS });
  const raw = await sumHolds(act, { accountId, now, latest: latestEnd(now, holdLifetime(settings)) });
  const overrun = await readOverrun(act, { settings });
  return limitsOf(plan, settings).storageBytes - usage_bytes + freed - resumable - raw - overrun;
}

/**
 * By how many bytes deleted content, which is on the disk for a minute more, exceeds a further quota. Up to that it
 * counts for nothing, so that an account can delete and upload at once. An account that stores and deletes without a
 * pause has two quotas on the disk, and no more.
 */
export async function readOverrun(act: AccountAct, { settings }: Pick<Deps, "settings">): Promise<number> {
  const { id: accountId, plan } = act.account;
  return Math.max(0, (await sumGivenUp(act, accountId)) - limitsOf(plan, settings).storageBytes);
}
