import type { Principal, RequestOrigin } from "../../handler.ts";
import type { AccountAct } from "../account/act.ts";

interface PlanChange {
  readonly plan: string;
  /** null: the payment provider, whose event came from `origin`. */
  readonly actor: Principal | null;
  readonly origin: RequestOrigin;
}

/** Records what the account's plan is from now on, or what its owner asked the payment provider for. */
export async function recordPlanChange(
  act: AccountAct,
  { plan, actor, origin }: PlanChange,
  action: "account.plan_changed" | "account.plan_change_requested" = "account.plan_changed",
): Promise<void> {
  const target = { kind: "plan", id: plan };
  const { id } = act.account;
  const event = action === "account.plan_changed" ? { object: { type: "account", id, plan } as const } : {};
  await act.record({ action, actor, origin, target, ...event });
}
