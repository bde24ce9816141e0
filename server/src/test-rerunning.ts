/** TEST ONLY: a database that runs the work of every act and transaction twice, as a driver may: what it rolled back must count nowhere. */
import type { Database } from "./ports/database.ts";

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
  const methods: Pick<Database, "act" | "transaction"> = {
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
  };
  return new Proxy(database, {
    get: (target, name) => {
      if (name === "act" || name === "transaction") return methods[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
