/**
 * What a key writes counts in the act that writes it (decision 0057): for its budgets, and for those of the keys that made
 * it. The statement that adds to a budget locks it, whichever account the act is of.
 */
import type { BudgetName } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Budget } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import {
  countsDays,
  DAY_MS,
  endOfSlot,
  type HoldBounds,
  holdsAt,
  overBudget,
  slotOf,
  slotsAt,
  SLOT_MS,
  type Spending,
} from "./rules.ts";
import { addWritten, insertBudgetHold, listWritten, lockBudget, sumHeld, sumWritten } from "./store.ts";

type Needs = Pick<Deps, "clock" | "settings">;

/**
 * Counts bytes that are stored from now on, and one more file or version. Throws `budget_storage` or
 * `budget_exceeded`; then nothing is counted, so the act may go on with other files.
 */
export async function spendBudgets(
  transaction: Queries,
  { clock, settings }: Needs,
  budgets: readonly Budget[],
  spending: Spending,
): Promise<void> {
  const now = clock.now();
  for (const budget of budgets) {
    const { stored_bytes } = await lockBudget(transaction, { id: budget.id, bytes: 0 });
    await requireRoom(transaction, budget, { ...spending, stored: stored_bytes }, holdsAt(now, settings));
  }
  for (const budget of budgets) {
    await lockBudget(transaction, { id: budget.id, bytes: spending.bytes });
    if (!countsDays(budget)) continue;
    // A day longer than they count, for a clock that is set back.
    const before = slotsAt(now - DAY_MS).first;
    await addWritten(transaction, { id: budget.id, slot: slotOf(now), ...spending, before });
  }
}

/** The bytes are stored no more. `budgetId`: as their row has it; null: the caller that stored them had no budgets. */
export async function releaseStored(transaction: Queries, budgetId: string | null, bytes: number): Promise<void> {
  if (bytes === 0) return;
  for (let id = budgetId; id !== null;) ({ parent_id: id } = await lockBudget(transaction, { id, bytes: -bytes }));
}

/** An upload's claim, until it is finished or ended. */
export interface BudgetHold {
  /** The row that it goes with, of an upload in one request or of a resumable one. */
  readonly of: { readonly holdId: string } | { readonly uploadId: string };
  readonly expiresAt: number;
  readonly bytes: number;
  /** Bytes that the finished upload may give back. */
  readonly freed: number;
}

/** Holds bytes and one file of each budget. Throws what {@link spendBudgets} does. */
export async function holdBudgets(
  transaction: Queries,
  { clock, settings }: Needs,
  budgets: readonly Budget[],
  { of, expiresAt, bytes, freed }: BudgetHold,
): Promise<void> {
  const now = clock.now();
  const [hold_id, upload_id] = "holdId" in of ? [of.holdId, null] : [null, of.uploadId];
  for (const budget of budgets) {
    const { stored_bytes } = await lockBudget(transaction, { id: budget.id, bytes: 0 });
    await requireRoom(transaction, budget, { bytes, files: 1, stored: stored_bytes - freed }, holdsAt(now, settings));
    const id = `${hold_id ?? upload_id}/${budget.id}`;
    const row = { id, budget_id: budget.id, hold_id, upload_id, bytes, expires_at: expiresAt };
    await insertBudgetHold(transaction, row, now);
  }
}

/** How many bytes an upload without a length may hold at most. Locks the budgets. */
export async function readBytesLeft(
  transaction: Queries,
  { clock, settings }: Needs,
  budgets: readonly Budget[],
): Promise<number> {
  const bounds = holdsAt(clock.now(), settings);
  let least = Infinity;
  for (const { id, limits } of budgets) {
    const { stored_bytes } = await lockBudget(transaction, { id, bytes: 0 });
    const held = await sumHeld(transaction, { id, ...bounds });
    const { storedBytes, bytesPerDay } = limits;
    if (storedBytes !== undefined) least = Math.min(least, storedBytes - stored_bytes - held.bytes);
    if (bytesPerDay === undefined) continue;
    const written = await sumWritten(transaction, { id, ...slotsAt(bounds.now) });
    least = Math.min(least, bytesPerDay - written.bytes - held.bytes);
  }
  return Math.max(0, least);
}

async function requireRoom(
  transaction: Queries,
  budget: Budget,
  { bytes, files, stored }: Spending & { readonly stored: number },
  bounds: HoldBounds,
): Promise<void> {
  const { id, limits } = budget;
  const { now } = bounds;
  const held = await sumHeld(transaction, { id, ...bounds });
  const { storedBytes } = limits;
  if (storedBytes !== undefined && bytes > 0 && stored + held.bytes + bytes > storedBytes) {
    const amounts = { limit: storedBytes, left: storedBytes - stored - held.bytes, needed: bytes };
    throw overBudget("storedBytes", amounts, { retryAt: null, now });
  }
  if (!countsDays(budget)) return;
  const written = await sumWritten(transaction, { id, ...slotsAt(now) });
  const daily = [
    ["bytesPerDay", "bytes", bytes],
    ["filesPerDay", "files", files],
  ] as const;
  for (const [name, unit, needed] of daily) {
    const limit = limits[name];
    const left = limit === undefined ? Infinity : limit - written[unit] - held[unit];
    if (limit === undefined || needed <= Math.max(0, left)) continue;
    const missing = needed - left;
    const retryAt = needed > limit ? null : await readRenewal(transaction, { id, name, missing, now });
    throw overBudget(name, { limit, left, needed }, { retryAt, now });
  }
}

/** When so much more is left, if nothing is used meanwhile. What unfinished uploads hold may be back at any time. */
async function readRenewal(
  transaction: Queries,
  { id, name, missing, now }: { id: string; name: BudgetName; missing: number; now: number },
): Promise<number> {
  const unit = name === "bytesPerDay" ? "bytes" : "files";
  let given = 0;
  for (const written of await listWritten(transaction, { id, ...slotsAt(now) })) {
    given += written[unit];
    if (given >= missing) return endOfSlot(written.slot);
  }
  return now + SLOT_MS;
}
