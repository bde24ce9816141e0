/** The SQL of files and folders that are gone, and whose past goes after them. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { EndedItemRow } from "../../ports/tree-act-tables.ts";

/** Of all accounts. */
export function listEndedItems(queries: Queries): Promise<EndedItemRow[]> {
  return queries.all(queries.build.selectFrom("ended_items").selectAll());
}

const byId = prepared((build, value: { id: string }) =>
  build.selectFrom("ended_items").selectAll().where("item_id", "=", value.id),
);

/** null: it is not gone, or all of it is. */
export function findEndedItem(queries: Queries, id: string): Promise<EndedItemRow | null> {
  return queries.first(byId(queries, { id }));
}

const ofVault = prepared((build, value: { vaultId: string }) =>
  build.selectFrom("ended_items").select(["item_id", "bytes"]).where("vault_id", "=", value.vaultId),
);

export function listEndedItemsIn(
  queries: Queries,
  vaultId: string,
): Promise<Pick<EndedItemRow, "item_id" | "bytes">[]> {
  return queries.all(ofVault(queries, { vaultId }));
}

export async function insertEndedItem(transaction: Queries, row: EndedItemRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("ended_items").values(row));
}

/** So many bytes fewer are to be queued. */
export async function countQueued(transaction: Queries, id: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  await transaction.run(
    transaction.build
      .updateTable("ended_items")
      .set((row) => ({ bytes: row("bytes", "-", bytes) }))
      .where("item_id", "=", id),
  );
}

export async function removeEndedItem(transaction: Queries, id: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("ended_items").where("item_id", "=", id));
}

/** For a vault that is deleted for good: what is left of them goes with it. */
export async function removeEndedItemsIn(transaction: Queries, vaultId: string): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("ended_items").where("vault_id", "=", vaultId));
}
