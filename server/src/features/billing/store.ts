import type { ExpressionBuilder } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { SubscriptionRow, Tables } from "../../ports/tables.ts";
import { statusesUpTo, type SubscriptionStatus } from "./rules.ts";

export const findSubscription = prepared((build, value: { accountId: string }) =>
  build.selectFrom("subscriptions").selectAll().where("account_id", "=", value.accountId),
);

const insertEvent = prepared((build, value: { id: string; now: number }) =>
  build
    .insertInto("payment_events")
    .values({ id: value.id, received_at: value.now })
    .onConflict((conflict) => conflict.doNothing()),
);

/** False: the event was taken before. */
export async function claimEvent(transaction: Queries, id: string, now: number): Promise<boolean> {
  return (await transaction.run(insertEvent(transaction, { id, now }))) === 1;
}

/**
 * Writes what an event says of the account's subscription, unless a newer event was taken before it. That an earlier
 * subscription ends means nothing for the one that is there now. False: nothing was changed.
 */
export async function applySubscription(
  transaction: Queries,
  row: Omit<SubscriptionRow, "status"> & { readonly status: SubscriptionStatus },
): Promise<boolean> {
  const query = transaction.build.insertInto("subscriptions").values(row);
  const upsert = query.onConflict((conflict) =>
    conflict
      .column("account_id")
      .doUpdateSet((old) => ({
        plan: row.plan,
        status: row.status,
        reference: row.reference,
        event_at: row.event_at,
        since: old
          .case()
          .when(old.and([isSame(old, row.reference), old("subscriptions.status", "!=", "ended")]))
          .then(old.ref("subscriptions.since"))
          .else(row.since)
          .end(),
      }))
      .where((old) => old.and([isOlder(old, row), concerns(old, row)])),
  );
  return (await transaction.run(upsert)) === 1;
}

type Old = ExpressionBuilder<Tables, "subscriptions">;
type Told = Pick<SubscriptionRow, "event_at" | "reference"> & { readonly status: SubscriptionStatus };

function isSame(old: Old, reference: string) {
  return old("subscriptions.reference", "=", reference);
}

/**
 * The row comes from an earlier event. For one moment, the later state of a subscription's life counts. A subscription
 * that replaces another begins in the moment in which that ends: providers count in seconds.
 */
function isOlder(old: Old, { event_at: at, status, reference }: Told) {
  const sameMoment = old.and([
    old("subscriptions.event_at", "=", at),
    old.or([
      old("subscriptions.status", "in", [...statusesUpTo(status)]),
      old("subscriptions.reference", "!=", reference),
    ]),
  ]);
  return old.or([old("subscriptions.event_at", "<", at), sameMoment]);
}

/** A subscription that begins takes the place of any other; one that ends, only its own. */
function concerns(old: Old, { reference, status }: Told) {
  const isOver = old("subscriptions.status", "=", "ended");
  return old.or([isSame(old, reference), isOver, ...(status === "active" ? [old.lit(true)] : [])]);
}

const setStatus = prepared((build, value: { accountId: string; reference: string; eventAt: number; status: string }) =>
  build
    .updateTable("subscriptions")
    .set({ status: value.status })
    .where("account_id", "=", value.accountId)
    .where("reference", "=", value.reference)
    .where("event_at", "=", value.eventAt)
    .where("status", "!=", value.status),
);

/** Writes what the provider has just agreed to. False: an event came after `seen` was read, and is newer. */
export async function changeStatus(
  transaction: Queries,
  seen: SubscriptionRow,
  status: Exclude<SubscriptionStatus, "ended">,
): Promise<boolean> {
  const { account_id: accountId, reference, event_at: eventAt } = seen;
  return (await transaction.run(setStatus(transaction, { accountId, reference, eventAt, status }))) === 1;
}
