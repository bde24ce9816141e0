/** The SQL of recorded members. Rows are kept when a membership ends. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { VaultMemberRow, VaultRow } from "../../ports/tables.ts";

const byAddress = prepared((build, value: { vaultId: string; chainAddress: string }) =>
  build
    .selectFrom("vault_members")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("chain_address", "=", value.chainAddress),
);

/** Present or removed. */
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

/** Writes a new membership, in the place of one that is over. */
export const putMember = prepared(
  (build, value: { vaultId: string; chainAddress: string; label: string; endsAt: number | null; now: number }) => {
    const made = {
      label: value.label,
      added_at: value.now,
      removed_at: null,
      ends_at: value.endsAt,
      ended_at: null,
    };
    return build
      .insertInto("vault_members")
      .values({ vault_id: value.vaultId, chain_address: value.chainAddress, ...made })
      .onConflict((conflict) => conflict.columns(["vault_id", "chain_address"]).doUpdateSet(made));
  },
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

/** Rows with a reached end that was not reported yet; see {@link claimEnd}. */
const reachedEnds = prepared((build, value: { now: number; limit: number }) =>
  build
    .selectFrom("vault_members")
    .select(["vault_id", "chain_address", "ends_at"])
    .where("ended_at", "is", null)
    .where("ends_at", "<=", value.now)
    .where("removed_at", "is", null)
    .orderBy("ends_at")
    .limit(value.limit),
);

export interface ReachedEnd {
  readonly vaultId: string;
  readonly chainAddress: string;
  readonly endsAt: number;
}

/** Ends of all accounts, the earliest first. */
export async function listReachedEnds(queries: Queries, value: { now: number; limit: number }): Promise<ReachedEnd[]> {
  const rows = await queries.all(reachedEnds(queries, value));
  return rows.map(({ vault_id, chain_address, ends_at }) => ({
    vaultId: vault_id,
    chainAddress: chain_address,
    endsAt: ends_at ?? 0,
  }));
}

const vaultOf = prepared((build, value: { id: string }) =>
  build.selectFrom("vaults").selectAll().where("id", "=", value.id).where("purging_bytes", "is", null),
);

/** Members of any account: for the service's own work. */
export function findVaultOf(queries: Queries, id: string): Promise<VaultRow | null> {
  return queries.first(vaultOf(queries, { id }));
}

/** A row for the one caller that may report this end. */
export const claimEnd = prepared(
  (build, value: { vaultId: string; chainAddress: string; endsAt: number; now: number }) =>
    build
      .updateTable("vault_members")
      .set({ ended_at: value.now })
      .where("vault_id", "=", value.vaultId)
      .where("chain_address", "=", value.chainAddress)
      .where("ends_at", "=", value.endsAt)
      .where("ended_at", "is", null)
      .where("removed_at", "is", null),
);
