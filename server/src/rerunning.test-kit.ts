/** TEST ONLY: a database that runs the work of every act and transaction twice, as a driver may: what it rolled back must count nowhere. */
import type { Database } from "./ports/database.ts";
import { wrapped } from "./wrapped.test-kit.ts";

class Rerun extends Error {}

export function rerunning(database: Database): Database {
  const twice = async <Result>(run: (fail: () => void) => Promise<Result>): Promise<Result> => {
    try {
      await run(() => {
        throw new Rerun();
      });
    } catch (error) {
      if (!(error instanceof Rerun)) throw error;
    }
    return run(() => undefined);
  };
  return wrapped(database, {
    act: (accountIds, work, options) =>
      twice((fail) =>
        database.act(
          accountIds,
          async (transaction, accounts) => {
            const result = await work(transaction, accounts);
            fail();
            return result;
          },
          options,
        ),
      ),
    transaction: (work, options) =>
      twice((fail) =>
        database.transaction(async (transaction) => {
          const result = await work(transaction);
          fail();
          return result;
        }, options),
      ),
  });
}
