import { prepared, type Queries } from "../../ports/database.ts";
import type { AccountRow } from "../../ports/tables.ts";

export const findAccount = prepared((build, value: { id: string }) =>
  build.selectFrom("accounts").selectAll().where("id", "=", value.id),
);

export const findAccountByEmail = prepared((build, value: { email: string }) =>
  build.selectFrom("accounts").select("id").where("email", "=", value.email),
);

export const renameAccount = prepared((build, value: { id: string; name: string | null; updated_at: number }) =>
  build
    .updateTable("accounts")
    .set({ name: value.name, updated_at: value.updated_at })
    .where("id", "=", value.id)
    .returningAll(),
);

export const findAccountByAddress = prepared((build, value: { chainAddress: string }) =>
  build.selectFrom("accounts").select("id").where("chain_address", "=", value.chainAddress),
);

/**
 * The account, and nobody else's change of it or of what it is asked about until the transaction ends: the UPDATE locks
 * the row also where writers run side by side.
 */
export const holdAccount = prepared((build, value: { id: string }) =>
  build
    .updateTable("accounts")
    .set((row) => ({ chain_address: row.ref("chain_address") }))
    .where("id", "=", value.id)
    .returningAll(),
);

/** Rejects with ConstraintError when another account has linked the address. */
export const setChainAddress = prepared(
  (build, value: { id: string; chainAddress: string; chainPublicKey: string | null; source: string; now: number }) =>
    build
      .updateTable("accounts")
      .set({
        chain_address: value.chainAddress,
        chain_public_key: value.chainPublicKey,
        chain_address_source: value.source,
        updated_at: value.now,
      })
      .where("id", "=", value.id)
      .returningAll(),
);

/** One that belongs to the address on the chain, as far as the service has seen. */
export const findSharedVault = prepared((build, value: { accountId: string; chainAddress: string }) =>
  build
    .selectFrom("vaults")
    .select(["id", "chain_object_id", "chain_generation", "owner_address"])
    .where("account_id", "=", value.accountId)
    .where("type", "=", "shared")
    .where("owner_address", "=", value.chainAddress)
    .limit(1),
);

/** What an act may change of its account's row. */
export type AccountColumns = Omit<AccountRow, "id" | "created_at" | "default_vault_id" | "email">;

const COUNTED = ["usage_bytes", "usage_files", "sequence", "changes_hash"] as const;
type Counted = Pick<AccountRow, (typeof COUNTED)[number]>;

const setCounted = prepared((build, row: { id: string } & { [Column in keyof Counted]: Counted[Column] }) =>
  build
    .updateTable("accounts")
    .set({
      usage_bytes: row.usage_bytes,
      usage_files: row.usage_files,
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
  const { id, usage_bytes, usage_files, sequence, changes_hash } = account;
  const query = columns.every((column) => COUNTED.some((counted) => counted === column))
    ? setCounted(transaction, { id, usage_bytes, usage_files, sequence, changes_hash })
    : transaction.build.updateTable("accounts").set(changed).where("id", "=", id);
  await transaction.run(query);
}

const addUsageBelow = prepared((build, value: { accountId: string; bytes: number; files: number; maximum: number }) =>
  build
    .updateTable("accounts")
    .set((row) => ({
      usage_bytes: row("usage_bytes", "+", value.bytes),
      usage_files: row("usage_files", "+", value.files),
    }))
    .where("id", "=", value.accountId)
    .where((row) => row(row("usage_bytes", "+", value.bytes), "<=", value.maximum)),
);

const addUsage = prepared((build, value: { accountId: string; bytes: number; files: number }) =>
  build
    .updateTable("accounts")
    .set((row) => ({
      usage_bytes: row("usage_bytes", "+", value.bytes),
      usage_files: row("usage_files", "+", value.files),
    }))
    .where("id", "=", value.accountId),
);

/**
 * Adds to (or, with negative numbers, takes from) what the account holds. One conditional UPDATE, so that parallel
 * uploads can never pass the quota together. False: it would go above `maximum` bytes and nothing was changed.
 * Taking away always succeeds, also for an account that a plan change left above its quota.
 */
export async function changeUsage(
  transaction: Queries,
  change: { accountId: string; bytes: number; files: number; maximum: number },
): Promise<boolean> {
  if (isAct(transaction)) {
    transaction.requireAccount(change.accountId);
    if (change.bytes > 0 && transaction.account.usage_bytes + change.bytes > change.maximum) return false;
    transaction.free({ bytes: -change.bytes, files: -change.files });
    return true;
  }
  const query = change.bytes > 0 ? addUsageBelow(transaction, { ...change }) : addUsage(transaction, { ...change });
  return (await transaction.run(query)) === 1;
}

/** An AccountAct, for callers that are not converted to it yet. */
interface Act extends Queries {
  readonly account: AccountRow;
  requireAccount(accountId: string): void;
  free(usage: { bytes: number; files: number }): void;
}

export function isAct(queries: Queries): queries is Act {
  return "account" in queries;
}

const touch = prepared((build, value: { id: string }) =>
  build
    .updateTable("accounts")
    .set((row) => ({ usage_bytes: row.ref("usage_bytes") }))
    .where("id", "=", value.id)
    .returning(["plan", "usage_bytes"]),
);

/**
 * What the account holds, and nobody else's claim or change of it until the transaction ends: the UPDATE locks the row
 * also where writers run side by side.
 */
export async function claimQuota(
  transaction: Queries,
  accountId: string,
): Promise<Pick<AccountRow, "plan" | "usage_bytes">> {
  if (isAct(transaction)) {
    transaction.requireAccount(accountId);
    return transaction.account;
  }
  const quota = await transaction.first(touch(transaction, { id: accountId }));
  if (quota === null) throw new Error("the account of a request does not exist");
  return quota;
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
  if (isAct(queries) && queries.account.id === accountId) return queries.account;
  const quota = await queries.first(quotaOf(queries, { accountId }));
  if (quota === null) throw new Error("the account of a request does not exist");
  return quota;
}
