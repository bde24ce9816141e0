import type { Deps } from "../../deps.ts";
import type { Principal, RequestOrigin } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { recordChange } from "../changes/store.ts";

interface PlanChange {
  readonly accountId: string;
  readonly plan: string;
  /** null: the payment provider, whose event came from `origin`. */
  readonly actor: Principal | null;
  readonly origin: RequestOrigin;
}

/** Records what the account's plan is from now on, or what its owner asked the payment provider for. */
export async function recordPlanChange(
  deps: Pick<Deps, "clock" | "random">,
  transaction: Queries,
  { accountId, plan, actor, origin }: PlanChange,
  action: "account.plan_changed" | "account.plan_change_requested" = "account.plan_changed",
): Promise<void> {
  const target = { kind: "plan", id: plan };
  const occurredAt = deps.clock.now();
  const event = action === "account.plan_changed" ? { object: { type: "account", id: accountId, plan } as const } : {};
  const made = { occurredAt, id: deps.random.uuid() };
  await recordChange(transaction, { accountId, action, actor, origin, target, ...event, ...made });
}
