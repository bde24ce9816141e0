/** The key that signs the redeemer's statements, if its chain key cannot: its owner's client verifies and names it. */
import type { Migration } from "./migration.ts";

export const inviteSigningKeys: Migration = {
  version: 6,
  name: "invite signing keys",
  async up(queries) {
    await queries.run(queries.build.schema.alterTable("invites").addColumn("signing_key", "text"));
  },
};
