/** Budgets of keys, without any I/O (decision 0057). */
import { type BudgetName, type Budgets, HEADERS } from "@coffer/contract";
import type { Settings } from "../../config.ts";
import type { Budget, Principal } from "../../handler.ts";
import { latestEnd } from "../../ports/stored-ends.ts";
import { ServiceError } from "../../service-error.ts";
import { holdLifetime } from "../holds/rules.ts";
import { toTimestamp } from "../timestamps.ts";

export const DAY_MS = 86_400_000;

/** What was written is added up by the quarter hour. A whole slot counts until its end is a day ago. Milliseconds. */
export const SLOT_MS = 15 * 60_000;

/** Keys that keys made with budgets of their own. Each write goes through all of them. */
export const MOST_BUDGETS = 8;

/** What one act adds to what a key has used. */
export interface Spending {
  readonly bytes: number;
  /** Files and versions. */
  readonly files: number;
}

export type SlotRange = {
  readonly first: number;
  /** Later ones were written while a clock was wrong: more than a day ahead they count no more. */
  readonly last: number;
};

export type HoldBounds = {
  readonly now: number;
  /** The latest ends that holds can have (ports/stored-ends.ts). */
  readonly latestHold: number;
  readonly latestUpload: number;
};

/** Which holds count at that time. */
export function holdsAt(now: number, settings: Pick<Settings, "timing">): HoldBounds {
  return {
    now,
    latestHold: latestEnd(now, holdLifetime(settings)),
    latestUpload: latestEnd(now, settings.timing.uploadLifetime),
  };
}

/** The slots that count at that time. Nothing counts for less than a day. */
export function slotsAt(now: number): SlotRange {
  return { first: Math.floor((now - DAY_MS) / SLOT_MS), last: slotOf(now) + DAY_MS / SLOT_MS };
}

export function slotOf(now: number): number {
  return Math.floor(now / SLOT_MS);
}

/** When what was written in the slot counts no more. */
export function endOfSlot(slot: number): number {
  return (slot + 1) * SLOT_MS + DAY_MS;
}

/** Whether anything of the budget is counted over a day. */
export function countsDays({ limits }: Budget): boolean {
  return limits.bytesPerDay !== undefined || limits.filesPerDay !== undefined;
}

export function parseBudgets(json: string | null): readonly Budget[] {
  return json === null ? [] : (JSON.parse(json) as Budget[]);
}

export function renderBudgets(budgets: readonly Budget[]): string | null {
  return budgets.length === 0 ? null : JSON.stringify(budgets);
}

/**
 * The budgets of a new key. Without any asked for, it has its maker's and counts together with it. With some, it counts
 * for itself and for its maker too, so that no number of keys is more than one. Throws `scope_too_wide` for more than
 * its maker has, and `limit_reached` where keys with budgets made each other too often.
 */
export function chooseBudgets(
  asked: Budgets | undefined,
  held: readonly Budget[],
  newId: () => string,
): readonly Budget[] {
  const wanted = Object.entries(asked ?? {}) as [BudgetName, number | undefined][];
  const own = Object.fromEntries(wanted.filter(([, limit]) => limit !== undefined)) as Budgets;
  if (Object.keys(own).length === 0) return held;
  const most = held[0]?.limits ?? {};
  for (const [name, limit] of wanted) {
    const maximum = most[name];
    if (limit !== undefined && maximum !== undefined && limit > maximum)
      throw new ServiceError("scope_too_wide", `body.budgets.${name}: the calling key has ${maximum}`);
  }
  if (held.length >= MOST_BUDGETS)
    throw new ServiceError("limit_reached", `At most ${MOST_BUDGETS} keys with budgets make each other`);
  return [{ id: newId(), limits: { ...most, ...own } }, ...held];
}

/** Whose stored bytes a caller's are; null: nobody counts them. */
export function budgetIdOf({ budgets }: Pick<Principal, "budgets">): string | null {
  return budgets[0]?.id ?? null;
}

/** Whether all that a key uses counts for its maker as well. */
export function isWithinBudgets(wanted: readonly Budget[], held: readonly Budget[]): boolean {
  const [maker] = held;
  return maker === undefined || wanted.some(({ id }) => id === maker.id);
}

export function budgetsShown([own]: readonly Budget[]): Budgets | null {
  return own === undefined ? null : own.limits;
}

/** The refusal of what a budget has no room for. `retryAt`: when it has; null: waiting does not help. Milliseconds. */
export function overBudget(
  name: BudgetName,
  amounts: { readonly limit: number; readonly left: number; readonly needed: number },
  { retryAt, now }: { readonly retryAt: number | null; readonly now: number },
): ServiceError {
  const { limit, left, needed } = amounts;
  const counts = `Budget ${name}: ${Math.max(0, left)} of ${limit} left, and this needs ${needed}`;
  if (name === "storedBytes") {
    const message = `${counts}. Have the owner delete what this key stored for good, or ask for a larger budget`;
    return new ServiceError("budget_storage", message, { headers: { [HEADERS.budget]: name } });
  }
  const more = "ask the owner for a larger budget";
  const advice =
    retryAt === null ? `It never fits: ${more}` : `It has room at ${toTimestamp(retryAt)}: wait until then, or ${more}`;
  const seconds = Math.max(1, Math.ceil(((retryAt ?? now + DAY_MS) - now) / 1000));
  const headers = { [HEADERS.budget]: name, "Retry-After": String(seconds) };
  return new ServiceError("budget_exceeded", `${counts}. ${advice}`, { headers });
}
