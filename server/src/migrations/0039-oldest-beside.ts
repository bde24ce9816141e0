/** Each step says which older servers may go on beside it: they look before they write (drivers/database/schema-guard.ts). */
import type { Migration } from "./migration.ts";

export const oldestBeside: Migration = {
  version: 39,
  name: "oldest-beside",
  async up(queries) {
    await queries.run(queries.build.schema.alterTable("migrations").addColumn("oldest_beside", "integer"));
  },
};
