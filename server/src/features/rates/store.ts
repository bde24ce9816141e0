/**
 * One bucket for many keys, of all processes together: limits/rate.ts as one statement, by the clock of the database. Times are in microseconds.
 * A refusal writes nothing.
 */
import { type RawBuilder, sql } from "kysely";
import { type Database, prepared } from "../../ports/database.ts";
import { CLOCK_SLACK } from "../../ports/stored-ends.ts";
import type { SharedPolicy, SharedRates } from "../../limits/limits.ts";
import { type Taken, TOLERANCE } from "../../limits/rate.ts";

const MICRO = 1_000;
/** Counts bind running processes only, and every request waits for them. */
const VOLATILE = { durable: false } as const;
/** Rows that are full again go so many at a time. */
const REMOVED_AT_ONCE = 500;

/** The moment when the statement began. */
const NOW = sql`cast(extract(epoch from statement_timestamp()) * 1000000 as bigint)`;

/** How much later than its bucket can be full a row may say: later, and it was counted while the clock was ahead. */
const SLACK = sql.lit(CLOCK_SLACK * MICRO);
/** What was spent beyond a bucket makes it take longer, but no spending is so many buckets behind. */
const MOST_BEHIND = 100;

/** From when on the bucket of a row fills up: a row of a clock that was ahead counts for nothing (ports/stored-ends.ts). */
const fullAt = (longest: RawBuilder<unknown>) =>
  sql`case when rates.full_at > ${NOW} + ${longest} + ${SLACK} then ${NOW} else greatest(rates.full_at, ${NOW}) end`;

type Taking = { key: string; interval: number; span: number };

const takingOf = ({ name, quota, window, burst }: SharedPolicy, key: string): Taking => {
  const interval = Math.round((window * 1000 * MICRO) / quota);
  return { key: `${name} ${key}`, interval, span: interval * burst };
};

const take = prepared((build, { key, interval, span }: Taking) => {
  const one = sql`cast(${interval} as bigint)`;
  const whole = sql`cast(${span} as bigint)`;
  const raised = sql`${fullAt(whole)} + ${one}`;
  const bound = sql`${NOW} + ${whole}`;
  const query = sql<{ used: number }>`insert into rates (key, full_at) values (${key}, ${NOW} + ${one})
    on conflict (key) do update set full_at = ${raised} where ${raised} <= ${bound} returning full_at - ${NOW} as used`;
  return { compile: () => query.compile(build) };
});

/** Rows of the keys that have been counted. */
function peek(database: Database, keys: readonly string[]): Promise<{ key: string; used: number }[]> {
  const query = sql<{ key: string; used: number }>`
    select key, full_at - ${NOW} as used from rates where key = any(${keys}::text[])`;
  return database.all({ compile: () => query.compile(database.build) });
}

/** In the order of their keys: nobody waits in a circle. */
function spend(database: Database, span: number, spent: readonly (readonly [key: string, cost: number])[]) {
  const [keys, costs] = [spent.map(([key]) => key), spent.map(([, cost]) => cost)];
  const longest = sql`cast(${span * MOST_BEHIND} as bigint)`;
  const raised = sql`${fullAt(longest)} + excluded.full_at - ${NOW}`;
  const rows = sql`select key, ${NOW} + cost from unnest(${keys}::text[], ${costs}::bigint[]) as spent (key, cost)`;
  const query = sql<{ key: string; used: number }>`insert into rates (key, full_at) ${rows} order by key
    on conflict (key) do update set full_at = ${raised} returning key, full_at - ${NOW} as used`;
  return database.all({ compile: () => query.compile(database.build) });
}

const refund = prepared((build, { key, interval }: Taking) => {
  const query = sql`update rates set full_at = full_at - cast(${interval} as bigint) where key = ${key}`;
  return { compile: () => query.compile(build) };
});

/** The counts of all processes on the database. */
export function sharedRates(database: Database): SharedRates {
  const usedOf = async (takings: readonly Taking[]): Promise<readonly number[]> => {
    const rows = await peek(
      database,
      takings.map(({ key }) => key),
    );
    const used = new Map(rows.map((row) => [row.key, row.used]));
    return takings.map(({ key, span }) => {
      const most = span + CLOCK_SLACK * MICRO;
      const counted = used.get(key) ?? 0;
      return counted > most ? 0 : Math.max(0, counted);
    });
  };
  return {
    async consume(policy, key) {
      const taking = takingOf(policy, key);
      const taken = await database.transaction((transaction) => transaction.first(take(database, taking)), VOLATILE);
      if (taken !== null) return { allowed: true, ...remaining(taking, taken.used) };
      const { interval, span } = taking;
      const [used = 0] = await usedOf([taking]);
      return { allowed: false, left: 0, wait: Math.max(0, used + interval - span) / MICRO };
    },
    async peek(asked) {
      const takings = asked.map(([policy, key]) => takingOf(policy, key));
      const used = await usedOf(takings);
      return takings.map((taking, at) => remaining(taking, used[at] ?? 0));
    },
    async spend(policy, counts) {
      const takings = new Map([...counts.keys()].map((key) => [takingOf(policy, key), key]));
      const costs = [...takings].map(([{ key, interval }, of]) => [key, interval * (counts.get(of) ?? 0)] as const);
      const rows = costs.length === 0 ? [] : await spend(database, takingOf(policy, "").span, costs);
      const used = new Map(rows.map((row) => [row.key, row.used]));
      return new Map(
        [...takings].map(([{ key, interval, span }, of]) => [of, (span - (used.get(key) ?? 0)) / interval]),
      );
    },
    async refund(policy, key) {
      await database.run(refund(database, takingOf(policy, key)));
    },
  };
}

function remaining({ interval, span }: Taking, used: number): Pick<Taken, "left" | "wait"> {
  // Statements that wait for each other's row may have begun in another order.
  const left = Math.max(0, Math.floor((span - used) / interval + TOLERANCE));
  return { left, wait: (used + (left + 1) * interval - span) / MICRO };
}

/** Removes the rows whose bucket is full again; how many. */
export async function removeFull(database: Database): Promise<number> {
  let removed = 0;
  for (let some = 1; some > 0; removed += some) some = await removeSome(database);
  return removed;
}

function removeSome(database: Database): Promise<number> {
  const query = sql`delete from rates where key in (select key from rates where full_at < ${NOW} limit ${sql.lit(REMOVED_AT_ONCE)})`;
  return database.run({ compile: () => query.compile(database.build) });
}
