/**
 * Deliveries by their status, those under way apart from the others. An attempt passes through that status within
 * milliseconds. Its entry beside the others cost every delivery two of four changes to that index, on pages of its
 * endpoint's own. Those under way are few, so the index which finds ended leases lists them by endpoint as well.
 */
import { type Compilable, sql } from "kysely";
import type { Queries } from "../ports/database.ts";
import type { Migration } from "./migration.ts";

export const webhookStatuses: Migration = {
  version: 5,
  name: "webhook statuses",
  async up(queries) {
    for (const statement of indexes(queries)) await queries.run(statement);
  },
};

type IndexColumn = string | ReturnType<typeof sql>;

function indexes({ build: { schema } }: Queries): Compilable[] {
  const newestFirst: readonly IndexColumn[] = [sql`created_at desc`, sql`id desc`];
  const index = (name: string, columns: readonly IndexColumn[], of: ReturnType<typeof sql<boolean>>) =>
    schema
      .createIndex(`webhook_deliveries_${name}`)
      .on("webhook_deliveries")
      .columns([...columns, ...newestFirst])
      .where(of);
  // One by one: from `status <> 'delivering'` SQLite does not conclude that the index has those of one of them
  // (sqlite.org/partialindex.html §3).
  const others = sql<boolean>`status = 'pending' or status = 'success' or status = 'failed'`;
  return [
    schema.dropIndex("webhook_deliveries_by_status"),
    schema.dropIndex("webhook_deliveries_leased"),
    index("by_status", ["webhook_id", "status"], others),
    index("leased", ["webhook_id"], sql<boolean>`status = 'delivering'`),
  ];
}
