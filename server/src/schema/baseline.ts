/** The schema of a new database, as one text for each engine. */
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { dialectOf } from "../ports/database.ts";
import type { Migration } from "./migration.ts";

const TEXTS = {
  sqlite: new URL("sqlite.sql", import.meta.url),
  postgres: new URL("postgres.sql", import.meta.url),
} as const;

export const baseline: Migration = {
  // Databases of before it have schemas 1 to 42, and so have the servers that made them: those refuse what is newer.
  version: 43,
  name: "baseline",
  async up(queries) {
    for (const statement of statementsOf(readFileSync(TEXTS[dialectOf(queries)], "utf8")))
      await queries.run({ compile: () => sql.raw(statement).compile(queries.build) });
  },
};

/** A statement ends with a line; what a trigger does ends within one. */
function statementsOf(text: string): string[] {
  return text.split(/;\n/).filter((statement) => statement.trim() !== "");
}
