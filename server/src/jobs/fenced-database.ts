/** The database, for what the holder of a lease does: nothing of it is written once somebody else has the lease. */
import type { Database, Queries } from "../ports/database.ts";
import type { Lease } from "../ports/leases.ts";
import { wrapDatabase } from "../ports/wrapped-database.ts";

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
  return wrapDatabase(database, {
    run: (query) => database.transaction(behindFence((transaction) => transaction.run(query))),
    act: (accountIds, work, options) => database.act(accountIds, behindFence(work), options),
    transaction: (work, options) => database.transaction(behindFence(work), options),
  });
}
