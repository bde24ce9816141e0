import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import { describeRaces } from "../../../../test/suites/database-races.ts";
import type { Database } from "../../ports/database.ts";
import { openPostgres } from "./postgres.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

/** Each transaction goes through the next of several processes' drivers: those of one account would wait inside of one. */
async function openRaced(): Promise<Database> {
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await createDatabase("migrated"));
  const [first, ...more] = Array.from({ length: 5 }, () => opened.use(openPostgres({ url: place.url })));
  if (first === undefined) throw new Error("no driver was opened");
  let turn = 0;
  const next = (): Database => [first, ...more][(turn += 1) % (more.length + 1)] ?? first;
  const all = opened.move();
  return {
    build: first.build,
    capabilities: first.capabilities,
    news: first.news,
    schemaGuard: first.schemaGuard,
    load: first.load,
    commits: first.commits,
    all: (query) => first.all(query),
    first: (query) => first.first(query),
    run: (query) => first.run(query),
    act: (accountIds, work, options) => next().act(accountIds, work, options),
    transaction: (work, options) => next().transaction(work, options),
    snapshot: (work) => next().snapshot(work),
    migration: (work) => first.migration(work),
    ping: () => first.ping(),
    diskRoom: () => first.diskRoom(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

describeRaces("PostgreSQL", openRaced, FULL ? 150 : 8);
