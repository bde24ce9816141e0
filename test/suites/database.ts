/**
 * What every driver of the database port must do, with the newest schema. It knows no dialect: a driver over
 * PostgreSQL is held to it as it stands.
 */
import { describe } from "vitest";
import { describeActs } from "./database-acts.ts";
import { describeQueries } from "./database-queries.ts";
import { describeSchema } from "./database-schema.ts";
import { describeTransactions } from "./database-transactions.ts";
import type { OpenMedium } from "./database-fixture.ts";
import { describeLeases } from "./leases.ts";

export function describeDatabase(name: string, openMedium: OpenMedium): void {
  describe(`database: ${name}`, () => {
    describeQueries(openMedium);
    describeTransactions(openMedium);
    describeActs(openMedium);
    describeSchema(openMedium);
    describeLeases(openMedium);
  });
}
