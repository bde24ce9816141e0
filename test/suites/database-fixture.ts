import { migrate } from "@coffer/server/schema/migrate";
import type { Database } from "@coffer/server/ports/database";
import { it } from "vitest";

/** Tests that each get a database with the newest schema and nothing in it. */
export function databaseTests(openMedium: OpenMedium) {
  return (title: string, check: (database: Database) => Promise<void>): void =>
    it(title, async () => {
      await using medium = await openMedium("migrated");
      await using database = await medium.open();
      await migrate(database);
      await check(database);
    });
}

/** A place for one database, empty and without a schema at first. A driver may have the newest schema there where that is asked for. */
export interface DatabaseMedium extends AsyncDisposable {
  /** A connection to the place, as another process would have it. */
  open(): Promise<Database>;
}

export type OpenMedium = (state?: "empty" | "migrated") => Promise<DatabaseMedium>;
