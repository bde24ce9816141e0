/** Vault names are unique in their account. */
import { isTaken, type Queries } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { findVaultIdByName } from "./store.ts";

/** Throws `name_exists`. */
export async function refuseTakenName(
  transaction: Queries,
  row: Pick<VaultRow, "id" | "name" | "account_id">,
): Promise<void> {
  const other = await findVaultIdByName(transaction, { name: row.name, accountId: row.account_id });
  if (other !== null && other !== row.id) throw nameTaken();
}

/** Where writers run side by side, the unique index has the last word. */
export async function nameOrConflict<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (cause) {
    throw isTaken(cause, "vaults_live_name") ? nameTaken(cause) : cause;
  }
}

function nameTaken(cause?: unknown): ServiceError {
  return new ServiceError("name_exists", "A vault of this name exists", { cause });
}
