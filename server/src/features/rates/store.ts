/**
 * One bucket for many keys, of all processes together: limits/rate.ts as one statement, by the clock of the database. Times are in microseconds.
 * A refusal writes nothing.
 */
import { sql } from "kysely";
import { type Database, prepared } from "../../ports/database.ts";
import type { Policy } from "../../limits/policies.ts";
import type { Taken } from "../../limits/rate.ts";

const MICRO = 1_000;
/** Rows that are full again go so many at a time. */
const REMOVED_AT_ONCE = 500;

/** The moment when the statement began. */
const NOW = sql`cast(extract(epoch from statement_timestamp()) * 1000000 as bigint)`;

type Taking = { key: string; interval: number; span: number };

const take = prepared((build, { key, interval, span }: Taking) => {
  const one = sql`cast(${interval} as bigint)`;
  const raised = sql`greatest(rates.full_at, ${NOW}) + ${one}`;
  const bound = sql`${NOW} + cast(${span} as bigint)`;
  const query = sql<{ used: number }>`insert into rates (key, full_at) values (${key}, ${NOW} + ${one})
    on conflict (key) do update set full_at = ${raised} where ${raised} <= ${bound} returning full_at - ${NOW} as used`;
  return { compile: () => query.compile(build) };
});

const look = prepared((build, { key }: { key: string }) => {
  const query = sql<{ used: number }>`select full_at - ${NOW} as used from rates where key = ${key}`;
  return { compile: () => query.compile(build) };
});

/** Takes one when there is one. */
export async function takeShared(
  database: Database,
  { name, quota, window, burst }: Policy,
  key: string,
): Promise<Taken> {
  const interval = Math.round((window * 1000 * MICRO) / quota);
  const span = interval * burst;
  const value = { key: `${name} ${key}`, interval, span };
  const taken = await database.first(take(database, value));
  const known = taken ?? (await database.first(look(database, value)));
  const used = known?.used ?? 0;
  if (taken === null) return { allowed: false, left: 0, wait: Math.max(0, used + interval - span) / MICRO };
  const left = Math.floor((span - used) / interval);
  return { allowed: true, left, wait: (used + (left + 1) * interval - span) / MICRO };
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
