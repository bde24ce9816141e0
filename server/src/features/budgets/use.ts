/** What keys have used of their budgets, and what is left. */
import type { BudgetName, BudgetUses } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Budget } from "../../handler.ts";
import type { Limits } from "../../limits/limits.ts";
import { countedOf, type RequestsLeft } from "../../limits/request-budgets.ts";
import type { Queries } from "../../ports/database.ts";
import { toTimestamp } from "../timestamps.ts";
import { endOfSlot, holdsAt, slotsAt } from "./rules.ts";
import { listUsed, type UsedRow } from "./store.ts";

export type UseDeps = Pick<Deps, "clock" | "settings"> & { readonly limits: Pick<Limits, "requestsLeft"> };

interface Use {
  readonly used: number;
  readonly left: number;
  readonly renewsAt: number | null;
}

/**
 * For each key in turn: what its own budget has used, and what it and those of its makers leave. null: it has none.
 */
export async function readBudgetUse(
  queries: Queries,
  { clock, limits, settings }: UseDeps,
  keys: readonly (readonly Budget[])[],
): Promise<readonly (BudgetUses | null)[]> {
  const now = clock.now();
  const ids = [...new Set(keys.flat().map(({ id }) => id))];
  const rows = new Map(
    (await listUsed(queries, ids, { ...slotsAt(now), ...holdsAt(now, settings) })).map((row) => [row.id, row]),
  );
  const counted = countedOf(keys.flat());
  const left = await limits.requestsLeft(counted);
  const requests = new Map(counted.map(({ id }, at) => [id, left[at]]));
  return keys.map((budgets) => {
    const [own] = budgets;
    if (own === undefined) return null;
    const names = Object.keys(own.limits) as BudgetName[];
    return Object.fromEntries(
      names.map((name) => {
        const uses = budgets.flatMap((budget) =>
          useOf(budget, name, { row: rows.get(budget.id), requests: requests.get(budget.id), now }),
        );
        return [name, shown(uses)];
      }),
    );
  });
}

function useOf(
  { limits: amounts }: Budget,
  name: BudgetName,
  { row, requests, now }: { row: UsedRow | undefined; requests: RequestsLeft | undefined; now: number },
): readonly Use[] {
  const limit = amounts[name];
  if (limit === undefined) return [];
  if (name === "requestsPerMinute") {
    const { left, wait } = requests ?? { left: limit, wait: 0 };
    return [{ used: limit - left, left, renewsAt: left === limit ? null : now + Math.ceil(wait) }];
  }
  const ends = { storedBytes: null, bytesPerDay: row?.firstBytes ?? null, filesPerDay: row?.firstFiles ?? null };
  const used = { storedBytes: row?.storedBytes, bytesPerDay: row?.bytes, filesPerDay: row?.files }[name] ?? 0;
  const first = ends[name];
  return [{ used, left: Math.max(0, limit - used), renewsAt: first === null ? null : endOfSlot(first) }];
}

/** The key's own use comes first. The one that leaves least says what is left. */
function shown([own, ...others]: readonly Use[]): { used: number; left: number; renewsAt: string | null } | undefined {
  if (own === undefined) return undefined;
  const { left, renewsAt } = others.reduce((least, use) => (use.left < least.left ? use : least), own);
  return { used: own.used, left, renewsAt: renewsAt === null ? null : toTimestamp(renewsAt) };
}
