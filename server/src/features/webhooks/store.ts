import { prepared, type Queries } from "../../ports/database.ts";
import type { AccountRow, WebhookRow } from "../../ports/tables.ts";
import { newest } from "../newest-store.ts";

export const findWebhook = prepared((build, value: { accountId: string; id: string }) =>
  build.selectFrom("webhooks").selectAll().where("id", "=", value.id).where("account_id", "=", value.accountId),
);

/** One row more than the page holds, newest first. */
export const listWebhooks = newest((build, value: { accountId: string }) =>
  build.selectFrom("webhooks").selectAll().where("account_id", "=", value.accountId),
);

/** Some endpoints of any accounts, each with the key that encrypts its secrets. */
export const someWebhooks = prepared((build, value: { limit: number }) =>
  build.selectFrom("webhooks").selectAll().limit(value.limit),
);

export const countWebhooks = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("webhooks")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("account_id", "=", value.accountId),
);

export async function insertWebhook(transaction: Queries, row: WebhookRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("webhooks").values(row));
}

/**
 * Where the account's events begin to become deliveries: at its newest change, when its first endpoint is made. An
 * account whose endpoints have all gone starts again.
 */
export async function startCursor(
  transaction: Queries,
  { id, sequence }: Pick<AccountRow, "id" | "sequence">,
  first: boolean,
): Promise<void> {
  await transaction.run(
    transaction.build
      .insertInto("webhook_cursors")
      .values({ account_id: id, sequence })
      .onConflict((conflict) => {
        const known = conflict.column("account_id");
        return first ? known.doUpdateSet({ sequence }) : known.doNothing();
      }),
  );
}

const lock = prepared((build, value: { id: string; accountId: string }) =>
  build
    .updateTable("webhooks")
    .set((row) => ({ active: row.ref("active") }))
    .where("id", "=", value.id)
    .where("account_id", "=", value.accountId)
    .returningAll(),
);

/** The endpoint as it is, and nobody else's change of it until the transaction ends: what records attempts writes there as well. */
export function lockWebhook(
  transaction: Queries,
  value: { id: string; accountId: string },
): Promise<WebhookRow | null> {
  return transaction.first(lock(transaction, value));
}

export type WebhookChanges = Partial<
  Pick<WebhookRow, "url" | "events_json" | "description" | "active" | "failing_since">
> &
  Pick<WebhookRow, "updated_at">;

/** Writes what changes, and nothing else. */
export function updateWebhook(transaction: Queries, id: string, changes: WebhookChanges): Promise<WebhookRow | null> {
  return transaction.first(transaction.build.updateTable("webhooks").set(changes).where("id", "=", id).returningAll());
}

export const deleteWebhook = prepared((build, value: { id: string; accountId: string }) =>
  build.deleteFrom("webhooks").where("id", "=", value.id).where("account_id", "=", value.accountId),
);

/** The secret of now becomes the previous one: there are never more than two (decisions §6). */
export const rotateSecret = prepared(
  (build, value: { id: string; accountId: string; secret: string; endsAt: number; now: number }) =>
    build
      .updateTable("webhooks")
      .set((row) => ({
        secret: value.secret,
        previous_secret: row.ref("secret"),
        previous_secret_ends_at: value.endsAt,
        updated_at: value.now,
      }))
      .where("id", "=", value.id)
      .where("account_id", "=", value.accountId),
);

/** Endpoints of all accounts. Nobody keeps ended secrets, and no clock that is set back brings them back. */
export const forgetEndedSecrets = prepared((build, value: { now: number }) =>
  build
    .updateTable("webhooks")
    .set({ previous_secret: null, previous_secret_ends_at: null })
    .where("previous_secret_ends_at", "<=", value.now),
);

/** A test shows in the endpoint's last delivery and counts like any attempt; it turns no endpoint off (decisions §6). */
export const recordTest = prepared((build, value: { id: string; status: string; at: number | null; failures: 0 | 1 }) =>
  build
    .updateTable("webhooks")
    .set((row) => ({
      last_delivery_status: value.status,
      last_delivery_at: value.at,
      // One failure more, or none at all.
      failure_count: row(row("failure_count", "*", value.failures), "+", value.failures),
    }))
    .where("id", "=", value.id),
);
