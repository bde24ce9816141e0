/** TEST ONLY: what looks first and decides in a transaction afterwards, with something happening in between. */
import type { Database } from "./ports/database.ts";

/** The database, for code that looks and then opens one transaction or act: `happens` comes between the two. */
export function between(database: Database, happens: () => void | Promise<unknown>): Database {
  const used: Pick<Database, "act" | "transaction" | "first" | "all" | "run" | "build" | "capabilities"> = {
    build: database.build,
    capabilities: database.capabilities,
    first: (query) => database.first(query),
    all: (query) => database.all(query),
    run: (query) => database.run(query),
    async act(accountIds, work, options) {
      await happens();
      return database.act(accountIds, work, options);
    },
    async transaction(work, options) {
      await happens();
      return database.transaction(work, options);
    },
  };
  return used as Database;
}
