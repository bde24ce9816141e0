/** The SQL of vault keys: records that members seal and sign, one current one for each place. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { VaultKeyRow } from "../../ports/tables.ts";
import type { PageRequest } from "../paging.ts";

const current = prepared((build, value: { vaultId: string; generation: number; after: number }) =>
  build
    .selectFrom("vault_keys")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("generation", "=", value.generation)
    .where("after", "=", value.after)
    .where("replaced_at", "is", null),
);

/** The record that new files of the place use; null: nobody published one yet. */
export function findCurrentKey(
  queries: Queries,
  value: { vaultId: string; generation: number; after: number },
): Promise<VaultKeyRow | null> {
  return queries.first(current(queries, value));
}

const currentId = prepared((build, value: { vaultId: string; generation: number; after: number }) =>
  build
    .selectFrom("vault_keys")
    .select("key_id")
    .where("vault_id", "=", value.vaultId)
    .where("generation", "=", value.generation)
    .where("after", "=", value.after)
    .where("replaced_at", "is", null),
);

/** The id of that record alone, in hex. */
export async function findCurrentKeyId(
  queries: Queries,
  value: { vaultId: string; generation: number; after: number },
): Promise<string | null> {
  return (await queries.first(currentId(queries, value)))?.key_id ?? null;
}

const named = prepared((build, value: { vaultId: string; keyId: string }) =>
  build.selectFrom("vault_keys").selectAll().where("vault_id", "=", value.vaultId).where("key_id", "=", value.keyId),
);

export function findKey(queries: Queries, value: { vaultId: string; keyId: string }): Promise<VaultKeyRow | null> {
  return queries.first(named(queries, value));
}

const counting = prepared((build, value: { vaultId: string; generation: number; after: number; creator: string }) =>
  build
    .selectFrom("vault_keys")
    .select((row) => row.fn.countAll<number | string>().as("count"))
    .where("vault_id", "=", value.vaultId)
    .where("generation", "=", value.generation)
    .where("after", "=", value.after)
    .where("creator", "=", value.creator),
);

/** Replaced ones too. */
export async function countKeys(
  queries: Queries,
  value: { vaultId: string; generation: number; after: number; creator: string },
): Promise<number> {
  return Number((await queries.first(counting(queries, value)))?.count ?? 0);
}

export async function insertKey(transaction: Queries, row: VaultKeyRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("vault_keys").values(row));
}

/** One row for the one caller that took the record's place. */
export const replaceKey = prepared((build, value: { vaultId: string; keyId: string; now: number }) =>
  build
    .updateTable("vault_keys")
    .set({ replaced_at: value.now })
    .where("vault_id", "=", value.vaultId)
    .where("key_id", "=", value.keyId)
    .where("replaced_at", "is", null),
);

/**
 * Newest first, one more row than the page holds. A cursor has room for half of a key's id (see {@link positionOf}), which is before
 * the whole one in the order.
 */
export function listKeys(
  queries: Queries,
  filter: { readonly vaultId: string; readonly generation: number | undefined },
  { after, limit }: Pick<PageRequest, "after" | "limit">,
): Promise<VaultKeyRow[]> {
  let query = queries.build.selectFrom("vault_keys").selectAll().where("vault_id", "=", filter.vaultId);
  if (filter.generation !== undefined) query = query.where("generation", "=", filter.generation);
  if (after !== null) {
    const half = after.id.replaceAll("-", "");
    query = query.where((row) => row(row.refTuple("created_at", "key_id"), "<", row.tuple(after.createdAt, half)));
  }
  return queries.all(
    query
      .orderBy("created_at", "desc")
      .orderBy("key_id", "desc")
      .limit(limit + 1),
  );
}

/** The row with an id that a cursor can hold. */
export function positionOf<Row extends Pick<VaultKeyRow, "key_id">>(row: Row): Row & { readonly id: string } {
  return { ...row, id: row.key_id.slice(0, 32) };
}
