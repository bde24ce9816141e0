/** The SQL of recorded members. Rows are kept when a membership ends. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { VaultMemberRow } from "../../ports/tables.ts";

const byAddress = prepared((build, value: { vaultId: string; chainAddress: string }) =>
  build
    .selectFrom("vault_members")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("chain_address", "=", value.chainAddress),
);

/** Live or removed. */
export function findMember(
  queries: Queries,
  key: { vaultId: string; chainAddress: string },
): Promise<VaultMemberRow | null> {
  return queries.first(byAddress(queries, key));
}

const live = prepared((build, value: { vaultId: string }) =>
  build
    .selectFrom("vault_members")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("removed_at", "is", null)
    .orderBy("added_at")
    .orderBy("chain_address"),
);

/** In the order in which they were added. */
export function listLiveMembers(queries: Queries, vaultId: string): Promise<VaultMemberRow[]> {
  return queries.all(live(queries, { vaultId }));
}

/** Writes a new membership, in the place of one that ended. */
export const putMember = prepared(
  (build, value: { vaultId: string; chainAddress: string; label: string; now: number }) =>
    build
      .insertInto("vault_members")
      .values({
        vault_id: value.vaultId,
        chain_address: value.chainAddress,
        label: value.label,
        added_at: value.now,
        removed_at: null,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["vault_id", "chain_address"])
          .doUpdateSet({ label: value.label, added_at: value.now, removed_at: null }),
      ),
);

export const setLabel = prepared((build, value: { vaultId: string; chainAddress: string; label: string }) =>
  build
    .updateTable("vault_members")
    .set({ label: value.label })
    .where("vault_id", "=", value.vaultId)
    .where("chain_address", "=", value.chainAddress)
    .where("removed_at", "is", null),
);

/** One row for the one caller that ended the membership. */
export const endMember = prepared((build, value: { vaultId: string; chainAddress: string; now: number }) =>
  build
    .updateTable("vault_members")
    .set({ removed_at: value.now })
    .where("vault_id", "=", value.vaultId)
    .where("chain_address", "=", value.chainAddress)
    .where("removed_at", "is", null),
);
