import { sql } from "kysely";
import { prepared, type Queries } from "../../ports/database.ts";
import { lockName } from "../../ports/leases.ts";
import type { AccountRow } from "../../ports/tables.ts";

export const findAccount = prepared((build, value: { id: string }) =>
  build.selectFrom("accounts").selectAll().where("id", "=", value.id),
);

export const findAccountByEmail = prepared((build, value: { email: string }) =>
  build.selectFrom("accounts").select("id").where("email", "=", value.email),
);

export const findAccountByAddress = prepared((build, value: { chainAddress: string }) =>
  build.selectFrom("accounts").select("id").where("chain_address", "=", value.chainAddress),
);

/**
 * Holds an address until the transaction ends. One caller may link it to an account while another binds a key of
 * another account to it. Each looks whether the other has done so, and neither locks what the other looks at.
 */
export async function lockAddress(transaction: Queries, chainAddress: string): Promise<void> {
  await lockName(transaction, `address:${chainAddress}`);
}

/** One that belongs to the address on the chain, as far as the service has seen. */
export const findSharedVault = prepared((build, value: { accountId: string; chainAddress: string }) =>
  build
    .selectFrom("vaults")
    .select(["id", "chain_object_id", "chain_generation", "owner_address"])
    .where("account_id", "=", value.accountId)
    .where("type", "=", "shared")
    .where("owner_address", "=", value.chainAddress)
    .where("purging_bytes", "is", null)
    .limit(1),
);

/** Bytes of all accounts together. */
export async function sumStored(queries: Queries): Promise<{ readonly files: number; readonly versions: number }> {
  const query = queries.build
    .selectFrom("accounts")
    .select([
      sql<number | string>`coalesce(sum(usage_bytes), 0)`.as("all"),
      sql<number | string>`coalesce(sum(usage_version_bytes), 0)`.as("versions"),
    ]);
  const row = await queries.first(query);
  const versions = Number(row?.versions ?? 0);
  return { files: Number(row?.all ?? 0) - versions, versions };
}

/** What an act may change of its account's row. */
export type AccountColumns = Omit<AccountRow, "id" | "created_at" | "default_vault_id" | "email">;

const COUNTED = ["usage_bytes", "usage_files", "usage_version_bytes", "sequence", "changes_hash"] as const;
type Counted = Pick<AccountRow, (typeof COUNTED)[number]>;

const setCounted = prepared((build, row: { id: string } & { [Column in keyof Counted]: Counted[Column] }) =>
  build
    .updateTable("accounts")
    .set({
      usage_bytes: row.usage_bytes,
      usage_files: row.usage_files,
      usage_version_bytes: row.usage_version_bytes,
      sequence: row.sequence,
      changes_hash: row.changes_hash,
    })
    .where("id", "=", row.id),
);

/** Writes what an act changed, in one statement. The act holds the row, so what it read there is what it is to be counted from. */
export async function writeAccount(
  transaction: Queries,
  account: AccountRow,
  changed: Partial<AccountColumns>,
): Promise<void> {
  const columns = Object.keys(changed);
  if (columns.length === 0) return;
  const { id, usage_bytes, usage_files, usage_version_bytes, sequence, changes_hash } = account;
  const query = columns.every((column) => COUNTED.some((counted) => counted === column))
    ? setCounted(transaction, { id, usage_bytes, usage_files, usage_version_bytes, sequence, changes_hash })
    : transaction.build.updateTable("accounts").set(changed).where("id", "=", id);
  await transaction.run(query);
}

/** Inserts the account and its default vault "Files" (decisions §5). Rejects with ConstraintError on a taken e-mail. */
export async function createAccount(transaction: Queries, account: AccountRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("accounts").values(account));
  await transaction.run(
    transaction.build.insertInto("vaults").values({
      id: account.default_vault_id,
      account_id: account.id,
      name: "Files",
      type: "public",
      chain_object_id: null,
      created_at: account.created_at,
      updated_at: account.updated_at,
    }),
  );
}

export type Quota = Pick<AccountRow, "plan" | "usage_bytes" | "default_vault_id">;

const quotaOf = prepared((build, value: { accountId: string }) =>
  build.selectFrom("accounts").select(["plan", "usage_bytes", "default_vault_id"]).where("id", "=", value.accountId),
);

export async function readQuota(queries: Queries, accountId: string): Promise<Quota> {
  const quota = await queries.first(quotaOf(queries, { accountId }));
  if (quota === null) throw new Error("the account of a request does not exist");
  return quota;
}

/** A part of a transaction that can be undone by itself. Parts do not lie in each other. */
export async function markPart(
  transaction: Queries,
  mark: "savepoint part" | "release part" | "rollback to part",
): Promise<void> {
  await transaction.run({ compile: () => sql.raw(mark).compile(transaction.build) });
}
