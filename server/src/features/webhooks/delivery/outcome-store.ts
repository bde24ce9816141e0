/** The statements that write down how attempts went. */
import { sql } from "kysely";
import { dialectOf, prepared, type Queries } from "../../../ports/database.ts";
import type { WebhookAttemptRow, WebhookRow } from "../../../ports/tables.ts";
import { type Columns, type Ids, idsOf, isAmong, type Row, rowsIn } from "./lists-store.ts";
import type { DeliveryEnd, EndpointState } from "./outcome-rules.ts";

const endsOf = prepared((build, value: Ids & { ended: number } & Row<DeliveryEnd>) => {
  const { status, http_status, last_error, next_attempt_at, completed_at } = value;
  return build
    .updateTable("webhook_deliveries")
    .set({ status, http_status, last_error, next_attempt_at, completed_at, lease_until: null })
    .where(isAmong(build, "id", value))
    .where("attempts", "=", value.ended)
    .where("status", "=", sql.lit("delivering"))
    .returning("id");
});

/**
 * Deliveries whose attempts ended alike, all in their `attempts`-th; returns the ids of those that did. The others did not
 * change: the attempt is not the one under way, as its lease was over, or the endpoint is gone.
 */
export async function writeEnds(
  transaction: Queries,
  { ids, attempts }: { readonly ids: readonly string[]; readonly attempts: number },
  end: DeliveryEnd,
): Promise<ReadonlySet<string>> {
  const rows = await transaction.all(endsOf(transaction, { ...idsOf(ids), ...end, ended: attempts }));
  return new Set(rows.map(({ id }) => id));
}

const ATTEMPT = {
  delivery_id: "text",
  number: "integer",
  trigger: "text",
  at: "bigint",
  http_status: "integer",
  error: "text",
  duration: "integer",
  response_body: "text",
} as const satisfies Columns<keyof WebhookAttemptRow>;

const newAttempts = prepared((build, value: { attempts: string }) =>
  build
    .insertInto("webhook_attempts")
    .columns(Object.keys(ATTEMPT) as (keyof typeof ATTEMPT)[])
    .expression(
      sql`select ${sql.join(Object.keys(ATTEMPT).map((name) => sql.ref(name)))} from ${rowsIn(build, value.attempts, ATTEMPT)}`,
    ),
);

export async function insertAttempts(transaction: Queries, rows: readonly WebhookAttemptRow[]): Promise<void> {
  if (rows.length === 0) return;
  // Half a character, where a text was cut, is none in JSON.
  const attempts = JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
  await transaction.run(newAttempts(transaction, { attempts }));
}

/** What an endpoint's next state is reckoned from. */
type StateBefore = Pick<WebhookRow, "id" | "url" | "active" | "failure_count" | "failing_since">;

const BEFORE = {
  id: "text",
  url: "text",
  active: "integer",
  failure_count: "integer",
  failing_since: "bigint",
} as const satisfies Columns<keyof StateBefore>;

const IS_AS_BEFORE = sql`webhooks.id = given.id and webhooks.url = given.url and webhooks.active = given.active
  and webhooks.failure_count = given.failure_count and webhooks.failing_since is not distinct from given.failing_since`;

const statesOf = prepared((build, value: { before: string } & Row<EndpointState>) => {
  const query = sql<{ id: string }>`
    update webhooks set active = ${value.active}, failure_count = ${value.failure_count},
      failing_since = ${value.failing_since}, last_delivery_at = ${value.last_delivery_at},
      last_delivery_status = ${value.last_delivery_status}
    from ${rowsIn(build, value.before, BEFORE)}
    where ${IS_AS_BEFORE} returning webhooks.id`;
  return { compile: () => query.compile(build) };
});

/** Endpoints that get one state; returns the ids of those that were as they are said to be. The others are as they were. */
export async function writeEndpointStates(
  transaction: Queries,
  endpoints: readonly StateBefore[],
  { active, failure_count, failing_since, last_delivery_at, last_delivery_status }: EndpointState,
): Promise<ReadonlySet<string>> {
  const state = { active, failure_count, failing_since, last_delivery_at, last_delivery_status };
  const before = JSON.stringify(endpoints, Object.keys(BEFORE));
  const rows = await transaction.all(statesOf(transaction, { before, ...state }));
  return new Set(rows.map(({ id }) => id));
}

const locked = prepared((build, value: Ids) =>
  build
    .selectFrom("webhooks")
    .select("id")
    .where(isAmong(build, "id", value))
    .orderBy("id")
    .forNoKeyUpdate(),
);

/** Where writers run side by side: others who write these endpoints wait, and nobody for them in a circle. */
export async function lockEndpoints(transaction: Queries, ids: readonly string[]): Promise<void> {
  if (ids.length === 0 || dialectOf(transaction) === "sqlite") return;
  await transaction.all(locked(transaction, idsOf(ids)));
}
