/**
 * The queue of deliveries: rows, claimed for a while. Its statements make it exact, whoever calls. A row goes from
 * `pending` to `delivering` for one caller, with the attempt counted in the same statement. Only the attempt that is
 * under way writes an end. A process that dies in between leaves a lease, and the row comes back when that is over.
 * The clock of the database decides when, so a process whose own clock is wrong takes nothing from another (decision
 * 0031).
 *
 * Failure contract. Everything that a caller does in one transaction happens or does not. A claim that was rolled back
 * has not been counted. An attempt whose end could not be written is counted, and somebody else may make it again.
 * Receivers get a message at least once, and at most `max_attempts` times for each of its deliveries.
 */
import { type RawBuilder, sql } from "kysely";
import { clockOf, type Database, dialectOf, prepared, type Queries } from "../../../ports/database.ts";
import type { WebhookDeliveryRow, WebhookRow } from "../../../ports/tables.ts";
import { type Ids, idsOf, isAmong, type Row, rowsIn } from "./lists-store.ts";

/** Spelled out: a plan for any value would not use the indexes of these alone, and a plan for each costs more than its rows. */
const [PENDING, DELIVERING] = [sql.lit("pending"), sql.lit("delivering")];

/** Endpoints looked at in one step. */
export const LANES_AT_ONCE = 1000;

/** Endpoints, each with the moment when its next attempt is due; null: nothing waits. */
const withDue = (build: Queries["build"]) =>
  build.selectFrom("webhooks").select((row) => [
    "id",
    row
      .selectFrom("webhook_deliveries")
      .select((of) => of.fn.min("next_attempt_at").as("due"))
      .whereRef("webhook_id", "=", "webhooks.id")
      .where("status", "=", PENDING)
      .as("due"),
  ]);

const lanesAfter = prepared((build, value: { after: string }) =>
  withDue(build).where("id", ">", value.after).where("active", "=", 1).orderBy("id").limit(LANES_AT_ONCE),
);

/** Active endpoints in the order of their ids, with the moment when something of theirs is due; null: nothing waits. */
export function listLanes(queries: Queries, after: string): Promise<{ id: string; due: number | null }[]> {
  return queries.all(lanesAfter(queries, { after }));
}

const nextDues = prepared((build, value: Ids) => withDue(build).where(isAmong(build, "id", value)));

/** When the next attempt of each endpoint is due, by its id; those without one are left out. */
export async function findNextDues(
  queries: Queries,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (webhookIds.length === 0) return new Map();
  const rows = await queries.all(nextDues(queries, idsOf(webhookIds)));
  return new Map(rows.flatMap(({ id, due }) => (due === null ? [] : [[id, due] as const])));
}

/** The facts about its delivery that an attempt needs. */
export type ClaimedDelivery = Pick<
  WebhookDeliveryRow,
  "id" | "webhook_id" | "message_id" | "payload" | "trigger" | "attempts" | "max_attempts"
>;

/** How much later than its end others may take a lease: what a slow statement may cost. Milliseconds. */
export const CLAIM_MARGIN = 5_000;

export interface Claim {
  readonly webhookId: string;
  readonly dueBy: number;
  readonly limit: number;
  /** Attempts to the endpoint at once, those of all processes together. */
  readonly most: number;
}

export interface ClaimTerms {
  readonly now: number;
  /** How long nobody else may take what is claimed. Milliseconds. */
  readonly lease: number;
}

export interface Claims {
  /** Takes what has been due longest of each endpoint, for nobody else until its lease is over. */
  due(transaction: Queries, claims: readonly Claim[], terms: ClaimTerms): Promise<ClaimedDelivery[]>;
  /**
   * Deliveries whose lease is over, or reaches beyond the longest possible one: the database's clock was set back
   * since it was written.
   */
  overdue(queries: Queries, value: Overdue): Promise<OverdueDelivery[]>;
}

/** By the clock of the database that they run on. */
export function claimsOf(database: Pick<Database, "capabilities">): Claims {
  const now = clockOf(database);
  const [claim, claimAll, overdue] = [claimBy(now), claimAllBy(now), overdueBy(now)];
  return {
    async due(transaction, claims, terms) {
      if (claims.length === 0) return [];
      if (dialectOf(transaction) === "postgres") {
        const locked = new Set((await transaction.all(locks(transaction, idsOf(claims.map(idOf))))).map(idOf));
        const ours = claims.filter((each) => locked.has(each.webhookId));
        return transaction.all(claimAll(transaction, { ...terms, claims: JSON.stringify(ours) }));
      }
      const claimed: ClaimedDelivery[] = [];
      for (const each of claims) claimed.push(...(await transaction.all(claim(transaction, { ...each, ...terms }))));
      return claimed;
    },
    overdue: (queries, value) => queries.all(overdue(queries, { ...value })),
  };
}

const idOf = ({ webhookId }: { readonly webhookId: string }): string => webhookId;

/** The class of these advisory locks, apart from all others of the database. */
const CLAIMS = sql.lit(0x636c6169);

/**
 * Endpoints for whose deliveries no other process has a claim to commit; none has until the transaction ends. Side by side,
 * two would each count without the other's, and send more at once than the endpoint bears. Nobody waits: the other
 * claims all that there is room for. The claim is another statement, because it must see what was committed before the lock.
 */
const locks = prepared((build, { ids }: Ids) =>
  build
    .selectFrom(
      sql<{ webhookId: string }>`jsonb_array_elements_text(cast(${ids} as jsonb))`.as<"given">(sql`given("webhookId")`),
    )
    .select("given.webhookId")
    .where(sql<boolean>`pg_try_advisory_xact_lock(${CLAIMS}, hashtext(given."webhookId"))`),
);

const claimBy = (now: RawBuilder<number>) =>
  prepared((build, value: Row<Claim & ClaimTerms>) =>
    claim(build, value, now)
      .where("id", "in", mostDue(build, value, now))
      // Once more: where writers run side by side, another may have claimed it since it was chosen.
      .where("status", "=", "pending")
      .returning(CLAIMED),
  );

/** All claims of an exchange are one statement and one trip; each keeps a limit of its own, so each is a subquery. */
const claimAllBy = (now: RawBuilder<number>) =>
  prepared((build, value: Row<ClaimTerms> & { claims: string }) => {
    const of = { webhookId: sql.ref<string>("given.webhookId"), dueBy: sql.ref<number>("given.dueBy") };
    const bounds = { limit: sql.ref<number>("given.limit"), most: sql.ref<number>("given.most") };
    // What another process is just claiming is nothing to wait for.
    const due = mostDue(build, { ...of, ...bounds }, now)
      .forUpdate()
      .skipLocked();
    const columns = { webhookId: "text", dueBy: "bigint", limit: "bigint", most: "bigint" } as const;
    const claims = rowsIn(build, value.claims, columns);
    return claim(build, value, now)
      .where("id", "=", sql<string>`any(array(select due.id from ${claims} cross join lateral ${due} as due))`)
      .where("status", "=", "pending")
      .returning(CLAIMED);
  });

const CLAIMED = ["id", "webhook_id", "message_id", "payload", "trigger", "attempts", "max_attempts"] as const;

function claim(build: Queries["build"], { now, lease }: Row<ClaimTerms>, databaseNow: RawBuilder<number>) {
  return build.updateTable("webhook_deliveries").set((row) => ({
    status: "delivering",
    attempts: row("attempts", "+", 1),
    lease_until: row(databaseNow, "+", lease),
    last_attempt_at: now,
    next_attempt_at: null,
  }));
}

/** A claim's values, or where a statement for many has them. */
type AnyClaim = { [Name in keyof Claim]: Claim[Name] | RawBuilder<Claim[Name]> };

function mostDue(build: Queries["build"], claim: AnyClaim, now: RawBuilder<number>) {
  return build
    .selectFrom("webhook_deliveries")
    .select("id")
    .where("webhook_id", "=", claim.webhookId)
    .where("status", "=", PENDING)
    .where("next_attempt_at", "<=", claim.dueBy)
    .orderBy("next_attempt_at")
    .limit(roomLeft(build, claim, now));
}

/** What is asked for, or what the attempts under way leave of the endpoint's; those whose lease is over count no more. */
function roomLeft(build: Queries["build"], { webhookId, limit, most }: AnyClaim, now: RawBuilder<number>) {
  const count = build.fn.countAll<number>();
  const [asked, bound] = [limit, most].map((value) => sql`cast(${value} as bigint)`);
  return (
    build
      .selectFrom("webhook_deliveries as under_way")
      // One aggregate: SQLite counts once, however often it is named.
      .select(
        sql<number>`case when ${count} >= ${bound} then 0 when ${count} > ${bound} - ${asked} then ${bound} - ${count} else ${asked} end`.as(
          "room",
        ),
      )
      .where("under_way.webhook_id", "=", webhookId)
      .where("under_way.status", "=", DELIVERING)
      .where("under_way.lease_until", ">", sql<number>`${now} - ${sql.lit(CLAIM_MARGIN)}`)
  );
}

export interface Overdue {
  /** The length of all leases. Milliseconds. */
  readonly longest: number;
  readonly limit: number;
}

export type OverdueDelivery = Pick<
  WebhookDeliveryRow,
  "id" | "webhook_id" | "trigger" | "attempts" | "max_attempts" | "last_attempt_at"
>;

const overdueBy = (now: RawBuilder<number>) =>
  prepared((build, value: Row<Overdue>) =>
    build
      .selectFrom("webhook_deliveries")
      .select(["id", "webhook_id", "trigger", "attempts", "max_attempts", "last_attempt_at"])
      .where("status", "=", DELIVERING)
      .where((row) =>
        row.or([
          row(row("lease_until", "+", CLAIM_MARGIN), "<=", now),
          row("lease_until", ">", row(now, "+", value.longest)),
        ]),
      )
      .orderBy("lease_until")
      .limit(value.limit),
  );

const endpointsOf = prepared((build, value: Ids) =>
  build
    .selectFrom("webhooks")
    .selectAll()
    .where(isAmong(build, "id", value)),
);

/** By their ids. They may be of any accounts: the engine works for all. */
export async function findEndpoints(
  queries: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WebhookRow>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.all(endpointsOf(queries, idsOf(ids)));
  return new Map(rows.map((row) => [row.id, row]));
}

const endBegunBefore = prepared((build, value: { began: number }) =>
  build
    .updateTable("webhook_deliveries")
    .set({ lease_until: 0 })
    .where("status", "=", "delivering")
    .where("last_attempt_at", "<", value.began),
);

/** Ends the leases of attempts that processes began which are known to have ended: for one that found itself alone when it began. */
export async function endClaims(queries: Queries, began: number): Promise<void> {
  await queries.run(endBegunBefore(queries, { began }));
}
