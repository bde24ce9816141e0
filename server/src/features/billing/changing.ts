/** A change of plan that the owner asks for. Upwards it is paid for first; down, the paid time runs out first. */
import type { Deps } from "../../deps.ts";
import type { Principal, RequestOrigin } from "../../handler.ts";
import type { Plan } from "../../ports/payment-provider.ts";
import type { AccountRow, SubscriptionRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { limitsOf } from "../account/rules.ts";
import { actAs } from "../account/act.ts";
import { recordPlanChange } from "./recording.ts";
import { changeStatus } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

interface WantedPlan {
  readonly account: AccountRow;
  readonly subscription: SubscriptionRow | null;
  readonly plan: Plan;
  readonly principal: Principal;
  readonly origin: RequestOrigin;
  /** Asks the payment provider to change the subscription of that name. */
  readonly askProvider: (reference: string) => Promise<void>;
}

/** Throws `subscription_required` or `usage_above_plan`. A state that is so already stays as it is. */
export async function changePlan(deps: Needs, wanted: WantedPlan): Promise<void> {
  const { account, subscription, plan } = wanted;
  if (subscription === null || subscription.status === "ended") {
    if (plan === account.plan) return;
    if (plan !== "free") throw new ServiceError("subscription_required");
    return leaveUnpaidPlan(deps, wanted);
  }
  // Ending: it is the free plan that comes next.
  const next = subscription.status === "ending" ? "free" : subscription.plan;
  if (plan === next) return;
  if (plan === "free") requireRoom(deps, account.usage_bytes);
  await wanted.askProvider(subscription.reference);
  await actAs(deps, wanted.principal, async (act) => {
    if (!(await changeStatus(act, subscription, plan === "free" ? "ending" : "active"))) return;
    const change = { plan, actor: wanted.principal, origin: wanted.origin };
    await recordPlanChange(act, change, "account.plan_change_requested");
  });
}

/** A plan that nobody pays for, given by the operator or in development, can be left at once. */
async function leaveUnpaidPlan(deps: Needs, { plan, principal, origin }: WantedPlan): Promise<void> {
  await actAs(deps, principal, async (act) => {
    requireRoom(deps, act.account.usage_bytes);
    if (act.account.plan === plan) return;
    act.change({ plan, updated_at: deps.clock.now() });
    await recordPlanChange(act, { plan, actor: principal, origin });
  });
}

function requireRoom({ settings }: Needs, usageBytes: number): void {
  const { storageBytes } = limitsOf("free", settings);
  if (usageBytes <= storageBytes) return;
  throw new ServiceError(
    "usage_above_plan",
    `The account holds ${usageBytes} bytes, and the free plan allows ${storageBytes}: delete files and empty the trash first`,
  );
}
