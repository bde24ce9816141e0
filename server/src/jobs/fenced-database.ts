/** The database, for what the holder of a lease does: nothing of it is written once somebody else has the lease. */
import type { Database, Queries } from "../ports/database.ts";
import type { Lease } from "../ports/leases.ts";

/** Ends work under a lease that another process has by now; it goes on there. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** All writes are transactions that begin with the fence. Reads need none. */
export function fenced(database: Database, lease: Pick<Lease, "isHeldIn">): Database {
  const behindFence =
    <Arguments extends readonly unknown[], Result>(
      work: (transaction: Queries, ...more: Arguments) => Promise<Result>,
    ) =>
    async (transaction: Queries, ...more: Arguments): Promise<Result> => {
      if (!(await lease.isHeldIn(transaction))) throw new LeaseLostError("Another process has the lease by now");
      return work(transaction, ...more);
    };
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
    run: (query) => database.transaction(behindFence((transaction) => transaction.run(query))),
    act: (accountIds, work, options) => database.act(accountIds, behindFence(work), options),
    transaction: (work, options) => database.transaction(behindFence(work), options),
    snapshot: (work) => database.snapshot(work),
    migration: (work) => database.migration(work),
    ping: () => database.ping(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
