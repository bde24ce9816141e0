import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import { describeRaces } from "../../../../test/suites/database-races.ts";
import type { Database } from "../../ports/database.ts";
import { openPostgres } from "./postgres.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";

async function openRaced(): Promise<Database> {
  const place = await createDatabase("migrated");
  const database = openPostgres({ url: place.url, connections: 30 });
  const close = database[Symbol.asyncDispose].bind(database);
  database[Symbol.asyncDispose] = async () => {
    await close();
    await place[Symbol.asyncDispose]();
  };
  return database;
}

describeRaces("PostgreSQL", openRaced, FULL ? 150 : 8);
