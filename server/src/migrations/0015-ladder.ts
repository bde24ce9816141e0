/** The steps from each vault key down to an earlier one: one for each place, which any member replaces (encryption design §7). */
import type { Migration } from "./migration.ts";

export const ladder: Migration = {
  version: 15,
  name: "ladder",
  async up(queries) {
    const steps = queries.build.schema
      .createTable("ladder_steps")
      .addColumn("vault_id", "text", (column) => column.notNull().references("vaults.id").onDelete("cascade"))
      .addColumn("place", "text", (column) => column.notNull())
      .addColumn("step", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("ladder_steps_key", ["vault_id", "place"]);
    await queries.run(steps);
  },
};
