import type { Budgets } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { Budget } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { chooseBudgets } from "./rules.ts";
import { insertBudget } from "./store.ts";

/** The budgets of a new key or invite, see {@link chooseBudgets}. One of its own has a row from now on. */
export async function makeBudgets(
  transaction: Queries,
  { random }: Pick<Deps, "random">,
  asked: Budgets | undefined,
  held: readonly Budget[],
): Promise<readonly Budget[]> {
  const chosen = chooseBudgets(asked, held, () => random.uuid());
  const [own] = chosen;
  if (own !== undefined && chosen !== held)
    await insertBudget(transaction, { id: own.id, parent_id: held[0]?.id ?? null, stored_bytes: 0 });
  return chosen;
}
