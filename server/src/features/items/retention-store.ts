/** The SQL of how long a vault keeps what was replaced, while its rows follow a change of that. */
import { type RawBuilder, sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";

/** What is kept after it was replaced, with the columns that name a row. */
const KEYS = { file_versions: ["file_id", "version_id"], item_entries: ["item_id", "number"] } as const;

export type KeptTable = keyof typeof KEYS;
export const KEPT_TABLES = ["file_versions", "item_entries"] as const;

/** When a kept row ends: the vault knows better than the row until a change of its time is written into all of them. */
export function endOf(table: KeptTable): RawBuilder<number> {
  const of = (column: string) => sql.ref(`${table}.${column}`);
  const pending = sql`(select vaults.pending_retention from vaults where vaults.id = ${of("vault_id")})`;
  return sql<number>`coalesce(${of("replaced_at")} + ${pending}, ${of("expires_at")})`;
}

/** A kept row that says the end that holds. */
export function withEnd<Row extends { readonly expires_at: number }>({
  ends_at: expires_at,
  ...row
}: Row & { readonly ends_at: number }): Omit<Row, "ends_at"> & { readonly expires_at: number } {
  return { ...row, expires_at };
}

export interface PendingRetention {
  readonly id: string;
  readonly pending_retention: number;
}

type Pending = Pick<VaultRow, "id" | "account_id" | "pending_retention">;

/** Vaults whose rows follow a change. */
export function listPendingRetentions(queries: Queries): Promise<Pending[]> {
  const query = queries.build.selectFrom("vaults").select(["id", "account_id", "pending_retention"]);
  return queries.all(query.where("pending_retention", "is not", null));
}

const ofVault = prepared((build, value: { id: string }) =>
  build
    .selectFrom("vaults")
    .select(["id", "account_id", "pending_retention"])
    .where("id", "=", value.id)
    .where("purging_bytes", "is", null),
);

/** null: the vault is gone, or goes. */
export function findPendingRetention(queries: Queries, id: string): Promise<Pending | null> {
  return queries.first(ofVault(queries, { id }));
}

/** Writes the end into rows of the vault that stay for less than that time, or for more: at most so many; answers how many. */
export function writeEnds(
  transaction: Queries,
  table: KeptTable,
  { vaultId, time, which, most }: { vaultId: string; time: number; which: "shorter" | "longer"; most: number },
): Promise<number> {
  const key = sql.join(KEYS[table].map((column) => sql.ref(column)));
  const query = sql`update ${sql.table(table)} set expires_at = replaced_at + ${time} where (${key}) in
    (select ${key} from ${sql.table(table)} where vault_id = ${vaultId}
      and (expires_at - replaced_at) ${sql.raw(which === "shorter" ? "<" : ">")} ${time} limit ${most})`;
  return transaction.run({ compile: () => query.compile(transaction.build) });
}

/** All rows of the vault say when they end. */
export async function endPendingRetention(transaction: Queries, id: string): Promise<void> {
  await transaction.run(transaction.build.updateTable("vaults").set({ pending_retention: null }).where("id", "=", id));
}
