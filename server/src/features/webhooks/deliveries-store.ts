/** Deliveries as their owner sees and repeats them. The engine's statements are in delivery/. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { WebhookAttemptRow, WebhookDeliveryRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

type Row<Kind> = { [Column in keyof Kind]: Kind[Column] };

const addDelivery = prepared((build, row: Row<WebhookDeliveryRow>) =>
  build.insertInto("webhook_deliveries").values({
    id: row.id,
    webhook_id: row.webhook_id,
    message_id: row.message_id,
    event: row.event,
    sequence: row.sequence,
    payload: row.payload,
    trigger: row.trigger,
    status: row.status,
    attempts: row.attempts,
    max_attempts: row.max_attempts,
    http_status: row.http_status,
    last_error: row.last_error,
    next_attempt_at: row.next_attempt_at,
    lease_until: row.lease_until,
    last_attempt_at: row.last_attempt_at,
    completed_at: row.completed_at,
    created_at: row.created_at,
  }),
);

export async function insertDelivery(transaction: Queries, row: WebhookDeliveryRow): Promise<void> {
  await transaction.run(addDelivery(transaction, { ...row }));
}

export async function insertDeliveries(transaction: Queries, rows: readonly WebhookDeliveryRow[]): Promise<void> {
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) return insertDelivery(transaction, first);
  if (rows.length > 0) await transaction.run(transaction.build.insertInto("webhook_deliveries").values([...rows]));
}

export const findDelivery = prepared((build, value: { webhookId: string; id: string }) =>
  build
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("id", "=", value.id)
    .where("webhook_id", "=", value.webhookId),
);

const attemptsOf = prepared((build, value: { deliveryId: string }) =>
  build.selectFrom("webhook_attempts").selectAll().where("delivery_id", "=", value.deliveryId).orderBy("number"),
);

/** In the order they were made; at most `max_attempts` of the delivery. */
export function listAttempts(queries: Queries, deliveryId: string): Promise<WebhookAttemptRow[]> {
  return queries.all(attemptsOf(queries, { deliveryId }));
}

/** One row more than the page holds, newest first; `status` null: of every status. */
export function listDeliveries(
  queries: Queries,
  { webhookId, status }: { readonly webhookId: string; readonly status: string | null },
  page: PageRequest,
): Promise<WebhookDeliveryRow[]> {
  // Built per use: two optional conditions, and nobody lists often enough for four compiled queries to matter.
  let query = queries.build.selectFrom("webhook_deliveries").selectAll().where("webhook_id", "=", webhookId);
  if (status !== null) query = query.where("status", "=", status);
  const { after } = page;
  if (after !== null) {
    query = query.where((row) => row(row.refTuple("created_at", "id"), "<", row.tuple(after.createdAt, after.id)));
  }
  return queries.all(
    query
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(page.limit + 1),
  );
}

/** The range of a recovery, both ends included, in milliseconds since the Unix epoch. */
export interface FailedRange {
  readonly webhookId: string;
  readonly since: number;
  readonly until: number;
}

/** Failed deliveries looked at in one step. */
export const RECOVERED_AT_ONCE = 200;

/**
 * Failed deliveries of the range, oldest first. Their message has neither arrived at this endpoint in another delivery
 * nor is on its way in one. `after` is where the step before ended.
 */
export function listUnrecovered(
  queries: Queries,
  { webhookId, since, until }: FailedRange,
  after: { readonly createdAt: number; readonly id: string } | null,
): Promise<WebhookDeliveryRow[]> {
  let query = queries.build
    .selectFrom("webhook_deliveries as failed")
    .selectAll()
    .where("webhook_id", "=", webhookId)
    .where("status", "=", "failed")
    .where("sequence", ">", 0)
    // With the status, so that the index which has it is read: most of what was sent in the range has arrived.
    .where((row) => row(row.refTuple("status", "created_at"), ">=", row.tuple("failed", since)))
    .where((row) => row(row.refTuple("status", "created_at"), "<=", row.tuple("failed", until)))
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("webhook_deliveries as other")
            .select("other.id")
            .whereRef("other.webhook_id", "=", "failed.webhook_id")
            .whereRef("other.message_id", "=", "failed.message_id")
            .where("other.status", "!=", "failed"),
        ),
      ),
    );
  if (after !== null) {
    query = query.where((row) => row(row.refTuple("created_at", "id"), ">", row.tuple(after.createdAt, after.id)));
  }
  return queries.all(query.orderBy("created_at").orderBy("id").limit(RECOVERED_AT_ONCE));
}

const removeOld = prepared((build, value: { cutoff: number; limit: number }) =>
  build.deleteFrom("webhook_deliveries").where("id", "in", (row) =>
    row
      .selectFrom("webhook_deliveries as old")
      .select("old.id")
      .where("old.created_at", "<=", value.cutoff)
      // What is on its way right now has an outcome to write; the next run finds it again.
      .where("old.status", "!=", "delivering")
      .orderBy("old.created_at")
      .limit(value.limit),
  ),
);

/** How many went, with their attempts; fewer than `limit` when no more are that old. */
export function deleteOldDeliveries(transaction: Queries, value: { cutoff: number; limit: number }): Promise<number> {
  return transaction.run(removeOld(transaction, value));
}

const removeSome = prepared((build, value: { webhookId: string; limit: number }) =>
  build
    .deleteFrom("webhook_deliveries")
    .where("id", "in", (row) =>
      row
        .selectFrom("webhook_deliveries as gone")
        .select("gone.id")
        .where("gone.webhook_id", "=", value.webhookId)
        .limit(value.limit),
    ),
);

/**
 * Some of an endpoint's deliveries, so that deleting the endpoint need not take a long queue along in one transaction.
 * Fewer than `limit` when no more are left.
 */
export function deleteSomeDeliveries(
  transaction: Queries,
  value: { webhookId: string; limit: number },
): Promise<number> {
  return transaction.run(removeSome(transaction, value));
}
