import { createDatabase } from "../../../../test/kit/postgres/databases.ts";
import { describeDatabase } from "../../../../test/suites/database.ts";
import { openPostgres } from "./postgres.ts";

describeDatabase("PostgreSQL", async (state) => {
  const place = await createDatabase(state);
  return {
    open: () => Promise.resolve(openPostgres({ url: place.url })),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
});
