/** TEST ONLY: a database that answers nothing from the end of an act on, as a disk that fails right after its commit. */
import { type Database, DatabaseUnavailableError } from "./ports/database.ts";
import { wrapped } from "./wrapped.test-kit.ts";

export interface AfterActs {
  readonly database: Database;
  /** Acts since the last {@link heal}. */
  readonly acts: number;
  /** Ends with this many acts from now on. */
  endAfter(acts: number): void;
  heal(): void;
}

export function afterActs(database: Database): AfterActs {
  let [acts, most] = [0, Infinity];
  const requireAlive = (): void => {
    if (acts >= most) throw new DatabaseUnavailableError("The disk fails after the commit");
  };
  const own: Partial<Database> = {
    async all(query) {
      requireAlive();
      return database.all(query);
    },
    async first(query) {
      requireAlive();
      return database.first(query);
    },
    async run(query) {
      requireAlive();
      return database.run(query);
    },
    async transaction(work, options) {
      requireAlive();
      return database.transaction(work, options);
    },
    async snapshot(work) {
      requireAlive();
      return database.snapshot(work);
    },
    async act(accountIds, work, options) {
      requireAlive();
      const result = await database.act(accountIds, work, options);
      acts += 1;
      return result;
    },
  };
  return {
    database: wrapped(database, own),
    get acts() {
      return acts;
    },
    endAfter(more) {
      [acts, most] = [0, more];
    },
    heal() {
      [acts, most] = [0, Infinity];
    },
  };
}
