/**
 * The queue of deliveries: rows, claimed for a while. It is exact by its statements, not by whoever calls: a row goes from
 * `pending` to `delivering` for one caller, with the attempt counted in the same statement, and an end is written only by
 * the attempt that is under way. Whoever dies in between leaves a lease, and the row comes back when that is over.
 *
 * Failure contract. Everything that a caller does in one transaction happens or does not. A claim that was rolled back has not
 * been counted. An attempt whose end could not be written is counted and may be made again by somebody else: receivers get
 * a message at least once, and at most `max_attempts` times for each of its deliveries.
 */
import { prepared, type Queries } from "../../../ports/database.ts";
import type { WebhookAttemptRow, WebhookDeliveryRow, WebhookRow } from "../../../ports/tables.ts";
import type { DeliveryEnd, EndpointState } from "./outcome-rules.ts";

type Row<Kind> = { [Column in keyof Kind]: Kind[Column] };

/** Endpoints looked at in one step. */
export const LANES_AT_ONCE = 1000;

const lanesAfter = prepared((build, value: { after: string }) =>
  build
    .selectFrom("webhooks")
    .select((row) => [
      "id",
      row
        .selectFrom("webhook_deliveries")
        .select((of) => of.fn.min("next_attempt_at").as("due"))
        .whereRef("webhook_id", "=", "webhooks.id")
        .where("status", "=", "pending")
        .as("due"),
    ])
    .where("id", ">", value.after)
    .where("active", "=", 1)
    .orderBy("id")
    .limit(LANES_AT_ONCE),
);

/** Active endpoints in the order of their ids, with the moment when something of theirs is due; null: nothing waits. */
export function listLanes(queries: Queries, after: string): Promise<{ id: string; due: number | null }[]> {
  return queries.all(lanesAfter(queries, { after }));
}

const earliest = prepared((build, value: { webhookId: string }) =>
  build
    .selectFrom("webhook_deliveries")
    .select((row) => row.fn.min("next_attempt_at").as("due"))
    .where("webhook_id", "=", value.webhookId)
    .where("status", "=", "pending"),
);

/** When the endpoint's next attempt is due; null: nothing waits. */
export async function findNextDue(queries: Queries, webhookId: string): Promise<number | null> {
  return (await queries.first(earliest(queries, { webhookId })))?.due ?? null;
}

/** What an attempt needs to know of its delivery. */
export type ClaimedDelivery = Pick<
  WebhookDeliveryRow,
  "id" | "webhook_id" | "message_id" | "payload" | "trigger" | "attempts" | "max_attempts"
>;

const claim = prepared(
  (build, value: { webhookId: string; dueBy: number; now: number; leaseUntil: number; limit: number }) =>
    build
      .updateTable("webhook_deliveries")
      .set((row) => ({
        status: "delivering",
        attempts: row("attempts", "+", 1),
        lease_until: value.leaseUntil,
        last_attempt_at: value.now,
        next_attempt_at: null,
      }))
      .where("id", "in", (row) =>
        row
          .selectFrom("webhook_deliveries as due")
          .select("due.id")
          .where("due.webhook_id", "=", value.webhookId)
          .where("due.status", "=", "pending")
          .where("due.next_attempt_at", "<=", value.dueBy)
          .orderBy("due.next_attempt_at")
          .limit(value.limit),
      )
      // Once more: where writers run side by side, another may have claimed it since it was chosen.
      .where("status", "=", "pending")
      .returning(["id", "webhook_id", "message_id", "payload", "trigger", "attempts", "max_attempts"]),
);

/** Takes what has been due longest, for nobody else until `leaseUntil`. */
export function claimDue(
  transaction: Queries,
  value: { webhookId: string; dueBy: number; now: number; leaseUntil: number; limit: number },
): Promise<ClaimedDelivery[]> {
  return transaction.all(claim(transaction, value));
}

const endDelivery = prepared((build, value: Row<DeliveryEnd> & { id: string; attempts: number }) =>
  build
    .updateTable("webhook_deliveries")
    .set({
      status: value.status,
      http_status: value.http_status,
      last_error: value.last_error,
      next_attempt_at: value.next_attempt_at,
      completed_at: value.completed_at,
      lease_until: null,
    })
    .where("id", "=", value.id)
    .where("attempts", "=", value.attempts)
    .where("status", "=", "delivering"),
);

/** False when this attempt is not the one under way: its lease was over, or the endpoint is gone. Then nothing changed. */
export async function writeEnd(
  transaction: Queries,
  { id, attempts }: Pick<WebhookDeliveryRow, "id" | "attempts">,
  end: DeliveryEnd,
): Promise<boolean> {
  return (await transaction.run(endDelivery(transaction, { ...end, id, attempts }))) === 1;
}

const addAttempt = prepared((build, row: Row<WebhookAttemptRow>) =>
  build.insertInto("webhook_attempts").values({
    delivery_id: row.delivery_id,
    number: row.number,
    trigger: row.trigger,
    http_status: row.http_status,
    error: row.error,
    duration: row.duration,
    response_body: row.response_body,
    at: row.at,
  }),
);

export async function insertAttempt(transaction: Queries, row: WebhookAttemptRow): Promise<void> {
  await transaction.run(addAttempt(transaction, { ...row }));
}

const endpoint = prepared((build, value: { id: string }) =>
  build.selectFrom("webhooks").selectAll().where("id", "=", value.id),
);

/** Whoever's it is: the engine works for all accounts. */
export function findEndpoint(queries: Queries, id: string): Promise<WebhookRow | null> {
  return queries.first(endpoint(queries, { id }));
}

const setState = prepared((build, value: Row<EndpointState> & { id: string }) =>
  build
    .updateTable("webhooks")
    .set({
      active: value.active,
      failure_count: value.failure_count,
      failing_since: value.failing_since,
      last_delivery_at: value.last_delivery_at,
      last_delivery_status: value.last_delivery_status,
    })
    .where("id", "=", value.id),
);

export async function writeEndpointState(transaction: Queries, id: string, state: EndpointState): Promise<void> {
  const { active, failure_count, failing_since, last_delivery_at, last_delivery_status } = state;
  await transaction.run(
    setState(transaction, { id, active, failure_count, failing_since, last_delivery_at, last_delivery_status }),
  );
}

/** Whose lease is over by `now`, or reaches beyond every lease there is: the clock was set back since it was written. */
export interface Overdue {
  readonly now: number;
  readonly beyond: number;
}

const overdue = prepared((build, value: Row<Overdue> & { limit: number }) =>
  build
    .selectFrom("webhook_deliveries")
    .select(["id", "webhook_id", "trigger", "attempts", "max_attempts", "last_attempt_at"])
    .where("status", "=", "delivering")
    .where((row) => row.or([row("lease_until", "<=", value.now), row("lease_until", ">", value.beyond)]))
    .orderBy("lease_until")
    .limit(value.limit),
);

export type OverdueDelivery = Pick<
  WebhookDeliveryRow,
  "id" | "webhook_id" | "trigger" | "attempts" | "max_attempts" | "last_attempt_at"
>;

export function listOverdue(queries: Queries, value: Overdue & { limit: number }): Promise<OverdueDelivery[]> {
  return queries.all(overdue(queries, { ...value }));
}
