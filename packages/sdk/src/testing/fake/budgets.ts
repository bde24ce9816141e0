/** Budgets of keys in the fake, by the service's rules (decision 0057). */
import { HEADERS, type BudgetName, type Budgets, type BudgetUses, type FileVersion } from "@coffer/contract";
import { Failure } from "../handlers.ts";
import type { Budget } from "./row.ts";
import { timestamp, type Caller, type State } from "./state.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SLOT_MS = 15 * MINUTE_MS;
const MOST_BUDGETS = 8;

/** The budgets of a new key. Throws `scope_too_wide` and `limit_reached`. */
export function chooseBudgets(asked: Budgets | undefined, held: readonly Budget[]): readonly Budget[] {
  const wanted = Object.entries(asked ?? {}).filter(([, limit]) => limit !== undefined) as [BudgetName, number][];
  if (wanted.length === 0) return held;
  const most = held[0]?.limits ?? {};
  for (const [name, limit] of wanted) if (limit > (most[name] ?? Infinity)) throw new Failure("scope_too_wide");
  if (held.length >= MOST_BUDGETS) throw new Failure("limit_reached");
  return [{ limits: { ...most, ...Object.fromEntries(wanted) }, written: [], requestsFullAt: 0 }, ...held];
}

/** Whether all that a key uses counts for its maker as well. */
export function isWithinBudgets(wanted: readonly Budget[], [maker]: readonly Budget[]): boolean {
  return maker === undefined || wanted.includes(maker);
}

/** Takes one request of each. Throws `budget_exceeded`. */
export function takeRequest(state: State, budgets: readonly Budget[]): void {
  for (const budget of budgets) {
    const [limit, { left, wait }] = [budget.limits.requestsPerMinute, requestsLeft(state, budget)];
    if (limit !== undefined && left === 0) throw over("requestsPerMinute", { limit, left, needed: 1 }, wait);
  }
  for (const budget of budgets)
    if (budget.limits.requestsPerMinute !== undefined)
      budget.requestsFullAt =
        Math.max(budget.requestsFullAt, state.now()) + MINUTE_MS / budget.limits.requestsPerMinute;
}

function requestsLeft(state: State, { limits, requestsFullAt }: Budget): { left: number; wait: number } {
  const interval = MINUTE_MS / (limits.requestsPerMinute ?? 1);
  const used = Math.max(requestsFullAt - state.now(), 0);
  const left = Math.floor((MINUTE_MS - used) / interval + 0.001);
  return { left, wait: used + (left + 1) * interval - MINUTE_MS };
}

/** Throws `budget_storage` or `budget_exceeded` unless bytes and one file more fit. */
export function requireBudgets(state: State, { key }: Caller, bytes: number): void {
  for (const budget of key.budgets ?? []) {
    const used = usedOf(state, budget);
    const needed = { storedBytes: bytes, bytesPerDay: bytes, filesPerDay: 1 };
    for (const name of ["storedBytes", "bytesPerDay", "filesPerDay"] as const) {
      const limit = budget.limits[name] ?? Infinity;
      const left = Math.max(0, limit - used[name]);
      if (needed[name] === 0 || needed[name] <= left) continue;
      const amounts = { limit, left, needed: needed[name] };
      throw over(name, amounts, renewalOf(budget, name, needed[name] - (limit - used[name])) - state.now());
    }
  }
}

/** Counts what was written. The caller's budgets are those that had room. */
export function spendBudgets(state: State, { key }: Caller, bytes: number): void {
  for (const { written } of key.budgets ?? []) written.push({ at: state.now(), bytes, files: 1 });
}

/** What a key has used of its own budget, and what is left of all of them. null: it has none. */
export function budgetUseOf(state: State, budgets: readonly Budget[] | undefined): BudgetUses | null {
  const [own] = budgets ?? [];
  if (own === undefined) return null;
  const names = Object.keys(own.limits) as BudgetName[];
  return Object.fromEntries(
    names.map((name) => {
      const uses = (budgets ?? []).flatMap((budget) => useOf(state, budget, name));
      const [{ used } = { used: 0 }] = uses;
      const { left, renewsAt } = uses.reduce((least, use) => (use.left < least.left ? use : least));
      return [name, { used, left, renewsAt: renewsAt === null ? null : new Date(renewsAt).toISOString() }];
    }),
  );
}

function useOf(state: State, budget: Budget, name: BudgetName) {
  const limit = budget.limits[name];
  if (limit === undefined) return [];
  if (name === "requestsPerMinute") {
    const { left, wait } = requestsLeft(state, budget);
    return [{ used: limit - left, left, renewsAt: left === limit ? null : state.now() + Math.ceil(wait) }];
  }
  const used = usedOf(state, budget)[name];
  const renewsAt = name === "storedBytes" || !isFinite(renewalOf(budget, name, 1)) ? null : renewalOf(budget, name, 1);
  return [{ used, left: Math.max(0, limit - used), renewsAt }];
}

function usedOf(state: State, budget: Budget): Record<Exclude<BudgetName, "requestsPerMinute">, number> {
  budget.written = budget.written.filter(({ at }) => endOf(at) > state.now());
  const open = [...state.uploads.values()].filter(({ budgets, fileId }) => fileId === null && budgets.includes(budget));
  const held = open.reduce((sum, { length }) => sum + length, 0);
  const sum = (unit: "bytes" | "files"): number => budget.written.reduce((all, written) => all + written[unit], 0);
  return {
    storedBytes: storedOf(state, budget) + held,
    bytesPerDay: sum("bytes") + held,
    filesPerDay: sum("files") + open.length,
  };
}

/** A file's versions that share their bytes count once. */
function storedOf(state: State, budget: Budget): number {
  let bytes = 0;
  for (const row of state.files.values()) {
    const isKept = ({ expiresAt }: FileVersion): boolean => expiresAt === null || expiresAt > timestamp(state);
    const own = row.versions.filter(({ value, storedBy }) => isKept(value) && storedBy.includes(budget));
    for (const content of new Set(own.map((version) => version.bytes))) bytes += content.length;
  }
  return bytes;
}

function endOf(at: number): number {
  return (Math.floor(at / SLOT_MS) + 1) * SLOT_MS + DAY_MS;
}

/** When so much more is left. */
function renewalOf({ written }: Budget, name: BudgetName, missing: number): number {
  const unit = name === "filesPerDay" ? "files" : "bytes";
  let given = 0;
  for (const each of written) if ((given += each[unit]) >= missing) return endOf(each.at);
  return Infinity;
}

function over(
  name: BudgetName,
  { limit, left, needed }: { readonly limit: number; readonly left: number; readonly needed: number },
  wait: number,
): Failure {
  const message = `Budget ${name}: ${String(left)} of ${String(limit)} left, and this needs ${String(needed)}`;
  if (name === "storedBytes") return new Failure("budget_storage", message, { [HEADERS.budget]: name });
  const seconds = String(Math.max(1, Math.ceil((Number.isFinite(wait) ? wait : DAY_MS) / 1000)));
  return new Failure("budget_exceeded", message, { [HEADERS.budget]: name, "retry-after": seconds });
}
