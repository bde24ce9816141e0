import type { Database } from "./database.ts";

/** The database, with some calls in place of its own. The others go to it. */
export function wrapDatabase(
  database: Database,
  calls: Partial<Pick<Database, "first" | "run" | "act" | "transaction">>,
): Database {
  return {
    build: database.build,
    capabilities: database.capabilities,
    news: database.news,
    schemaGuard: database.schemaGuard,
    commits: database.commits,
    get load() {
      return database.load;
    },
    all: (query) => database.all(query),
    first: (query) => database.first(query),
    run: (query) => database.run(query),
    act: (accountIds, work, options) => database.act(accountIds, work, options),
    transaction: (work, options) => database.transaction(work, options),
    snapshot: (work) => database.snapshot(work),
    migration: (work) => database.migration(work),
    ping: () => database.ping(),
    diskRoom: () => database.diskRoom(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    ...calls,
  };
}
