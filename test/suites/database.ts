/**
 * What every driver of the database port must do, with the schema of the migrations. It knows no dialect: a driver over
 * PostgreSQL is held to it as it stands.
 */
import type { Database } from "@coffer/server/ports/database";
import { describe } from "vitest";
import { describeQueries } from "./database-queries.ts";
import { describeSchema } from "./database-schema.ts";
import { describeTransactions } from "./database-transactions.ts";

/** A place for one database, empty and without a schema at first. */
export interface DatabaseMedium extends AsyncDisposable {
  /** A connection to the place, as another process would have it. */
  open(): Promise<Database>;
}

export type OpenMedium = () => Promise<DatabaseMedium>;

export function describeDatabase(name: string, openMedium: OpenMedium): void {
  describe(`database: ${name}`, () => {
    describeQueries(openMedium);
    describeTransactions(openMedium);
    describeSchema(openMedium);
  });
}
