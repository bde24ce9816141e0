/** How far each account's changes have become deliveries. Accounts without endpoints have no row here and cost nothing. */
import { prepared, type Queries } from "../../../ports/database.ts";
import type { WebhookRow } from "../../../ports/tables.ts";

/** Accounts looked at in one step. */
export const ACCOUNTS_AT_ONCE = 2000;

const cursorsAfter = prepared((build, value: { after: string }) =>
  build
    .selectFrom("webhook_cursors")
    .innerJoin("accounts", "accounts.id", "webhook_cursors.account_id")
    .select(["account_id", "webhook_cursors.sequence as done", "accounts.sequence as newest"])
    .where("account_id", ">", value.after)
    .orderBy("account_id")
    .limit(ACCOUNTS_AT_ONCE),
);

export interface Progress {
  readonly account_id: string;
  /** Up to which change, and up to which there are any. */
  readonly done: number;
  readonly newest: number;
}

/** In the order of the accounts' ids. */
export function listProgress(queries: Queries, after: string): Promise<Progress[]> {
  return queries.all(cursorsAfter(queries, { after }));
}

const endpointsOf = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("webhooks")
    .select(["id", "events_json", "last_delivery_status"])
    .where("account_id", "=", value.accountId)
    .orderBy("id"),
);

export type Subscriber = Pick<WebhookRow, "id" | "events_json" | "last_delivery_status">;

/** The account's endpoints, the paused ones too: their queue is kept. */
export function listSubscribers(queries: Queries, accountId: string): Promise<Subscriber[]> {
  return queries.all(endpointsOf(queries, { accountId }));
}

const move = prepared((build, value: { accountId: string; from: number; to: number }) =>
  build
    .updateTable("webhook_cursors")
    .set({ sequence: value.to })
    .where("account_id", "=", value.accountId)
    .where("sequence", "=", value.from),
);

/** False when somebody else has moved it since it was read: what follows it is theirs. */
export async function moveCursor(
  transaction: Queries,
  value: { accountId: string; from: number; to: number },
): Promise<boolean> {
  return (await transaction.run(move(transaction, value))) === 1;
}

const begin = prepared((build, value: { id: string }) =>
  build
    .updateTable("webhooks")
    .set({ last_delivery_status: "pending" })
    .where("id", "=", value.id)
    .where("last_delivery_status", "=", "none"),
);

/** An endpoint's first delivery is on its way. */
export async function markFirstDelivery(transaction: Queries, id: string): Promise<void> {
  await transaction.run(begin(transaction, { id }));
}

const DAY = 24 * 60 * 60_000;

const takeMail = prepared((build, value: { accountId: string; now: number; longAgo: number }) =>
  build
    .updateTable("webhook_cursors")
    .set({ mailed_at: value.now })
    .where("account_id", "=", value.accountId)
    .where((row) =>
      row.or([
        row("mailed_at", "is", null),
        row("mailed_at", "<=", value.longAgo),
        // The clock was set back.
        row("mailed_at", ">", value.now),
      ]),
    ),
);

/**
 * Whether the account's owner may be mailed about endpoints now: once a day at most. An account may have somebody else's
 * address that was never verified, and endpoints that answer 410 on purpose must not flood that mailbox.
 */
export async function takeMailTurn(transaction: Queries, accountId: string, now: number): Promise<boolean> {
  return (await transaction.run(takeMail(transaction, { accountId, now, longAgo: now - DAY }))) === 1;
}
