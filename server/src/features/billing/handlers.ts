import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { GroupHandlers, Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { type PaymentProvider, PaymentUnavailableError } from "../../ports/payment-provider.ts";
import type { AccountRow, SubscriptionRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { findAccount } from "../account/store.ts";
import { changePlan } from "./changing.ts";
import { applyEvent, collectEvent, readEvent } from "./events.ts";
import { checkoutId, toBilling } from "./rules.ts";
import { findSubscription } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "payments" | "settings">;

/** The provider is never asked inside a transaction: it would hold up every other writer. */
export const billingHandlers = (deps: Needs): GroupHandlers<typeof api.billing> => ({
  async get(_input, { principal }) {
    const { account, subscription } = await readPlan(deps.database, principal);
    return { billing: toBilling(account.plan, subscription) };
  },

  async checkout({ body: { plan } }, context) {
    const { account, subscription } = await readVerified(deps, context.principal);
    const payments = requirePayments(deps);
    if (account.plan === plan) throw new ServiceError("plan_unchanged");
    if (plan === "free") {
      throw new ServiceError("validation_failed", "body.plan: the free plan is not paid for: change the plan instead");
    }
    const id = checkoutId(account.id, plan, subscription, deps.clock.now());
    const request = { id, accountId: account.id, email: account.email, plan };
    const { url } = await ask(() => payments.checkout(request));
    return deps.database.transaction((transaction) => context.record(transaction, { url }));
  },

  async changePlan({ body: { plan } }, { principal, origin }) {
    const current = await readVerified(deps, principal);
    const payments = requirePayments(deps);
    const askProvider = (reference: string) => ask(() => payments.changePlan(reference, plan));
    await changePlan(deps, { ...current, plan, principal, origin, askProvider });
    const { account, subscription } = await readPlan(deps.database, principal);
    return { billing: toBilling(account.plan, subscription) };
  },

  async events({ headers, body }, { origin }) {
    const payments = requirePayments(deps);
    const signed = {
      id: headers["webhook-id"],
      timestamp: headers["webhook-timestamp"],
      signature: headers["webhook-signature"],
      body: await collectEvent(body),
    };
    const event = readEvent(payments, signed, deps.clock.now());
    if (event !== null) await applyEvent(deps, event, origin);
  },
});

interface Current {
  readonly account: AccountRow;
  readonly subscription: SubscriptionRow | null;
}

async function readPlan(queries: Queries, { accountId }: Principal): Promise<Current> {
  const account = await queries.first(findAccount(queries, { id: accountId }));
  if (account === null) throw new ServiceError("invalid_credential");
  return { account, subscription: await queries.first(findSubscription(queries, { accountId })) };
}

/** Before anything else: a person who has not proven the mailbox learns nothing and starts nothing. */
async function readVerified({ database }: Needs, principal: Principal): Promise<Current> {
  const current = await readPlan(database, principal);
  if (current.account.email_verified !== 1) throw new ServiceError("email_unverified");
  return current;
}

function requirePayments({ payments }: Needs): PaymentProvider {
  if (payments === null) throw new ServiceError("not_configured", "This server has no payment provider");
  return payments;
}

async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof PaymentUnavailableError)) throw error;
    throw new ServiceError("provider_unavailable", "The payment provider does not answer", { cause: error });
  }
}
