/** What of an account's storage is neither used nor held by an unfinished upload (docs/decisions/0027-bytes-in-flight.md). */
import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import { limitsOf } from "../account/rules.ts";
import { claimQuota } from "../account/store.ts";
import { KEPT_AFTER_EXPIRY_MS } from "../uploads/rules.ts";
import { sumHeldBytes } from "../uploads/store.ts";
import { sumHolds } from "./store.ts";

export interface AskedStorage {
  readonly accountId: string;
  /** Bytes that the finished upload gives back. */
  readonly freed: number;
}

/** Bytes. Nobody else claims them until the transaction ends. Below 0 for an account above its quota. */
export async function readFreeStorage(
  transaction: Queries,
  { clock, settings }: Pick<Deps, "clock" | "settings">,
  { accountId, freed }: AskedStorage,
): Promise<number> {
  const now = clock.now();
  const { plan, usage_bytes } = await claimQuota(transaction, accountId);
  const resumable = await sumHeldBytes(transaction, { accountId, rowsAfter: now + KEPT_AFTER_EXPIRY_MS });
  const raw = await sumHolds(transaction, { accountId, now });
  return limitsOf(plan, settings).storageBytes - usage_bytes + freed - resumable - raw;
}
