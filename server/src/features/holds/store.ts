/** The SQL of what uploads in one request hold. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { UploadHoldRow } from "../../ports/tables.ts";

const held = prepared((build, value: { accountId: string; now: number; latest: number }) =>
  build
    .selectFrom("upload_holds")
    .select((row) => row.fn.sum<number | string | null>("bytes").as("bytes"))
    .where("account_id", "=", value.accountId)
    .where("expires_at", ">", value.now)
    .where("expires_at", "<=", value.latest),
);

/** What all hold of the account's storage, in whatever process. `latest`: see ports/stored-ends.ts. */
export async function sumHolds(
  queries: Queries,
  value: { accountId: string; now: number; latest: number },
): Promise<number> {
  return Number((await queries.first(held(queries, value)))?.bytes ?? 0);
}

const givenUp = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("blob_deletions")
    .select((row) => row.fn.sum<number | string | null>("bytes").as("bytes"))
    .where("account_id", "=", value.accountId),
);

const purging = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("vaults")
    .select((row) => row.fn.sum<number | string | null>("purging_bytes").as("bytes"))
    .where("account_id", "=", value.accountId)
    .where("purging_bytes", "is not", null),
);

const ended = prepared((build, value: { accountId: string }) =>
  build
    .selectFrom("ended_items")
    .select((row) => row.fn.sum<number | string | null>("bytes").as("bytes"))
    .where("account_id", "=", value.accountId),
);

/** The bytes of the account's that no row needs, and that are not deleted yet: queued, or of a vault or a file that is being deleted. */
export async function sumGivenUp(queries: Queries, accountId: string): Promise<number> {
  const sums = [
    await queries.first(givenUp(queries, { accountId })),
    await queries.first(purging(queries, { accountId })),
    await queries.first(ended(queries, { accountId })),
  ];
  return sums.reduce((sum, row) => sum + Number(row?.bytes ?? 0), 0);
}

export async function insertHold(transaction: Queries, row: UploadHoldRow): Promise<void> {
  await transaction.run(transaction.build.insertInto("upload_holds").values(row));
}

const dropUpTo = prepared((build, { id, bytes }: { id: string; bytes: number }) =>
  build.deleteFrom("upload_holds").where("id", "=", id).where("bytes", "<=", bytes),
);

const subtract = prepared((build, { id, bytes }: { id: string; bytes: number }) =>
  build
    .updateTable("upload_holds")
    .set((row) => ({ bytes: row("bytes", "-", bytes) }))
    .where("id", "=", id),
);

/** The row goes with its last byte; nobody looks for that while it has room to spare. */
export async function release(
  transaction: Queries,
  { id, spare }: { readonly id: string; readonly spare: number },
  bytes: number,
): Promise<void> {
  if (spare === 0 && (await transaction.run(dropUpTo(transaction, { id, bytes }))) > 0) return;
  await transaction.run(subtract(transaction, { id, bytes }));
}

/** What killed processes left. */
export async function deleteExpiredHolds(transaction: Queries, now: number): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("upload_holds").where("expires_at", "<=", now));
}

const heldBytes = prepared((build, value: { accountId: string; rowsAfter: number }) =>
  build
    .selectFrom("uploads")
    .select((row) => row.fn.sum<number | string | null>("length").as("bytes"))
    .where("account_id", "=", value.accountId)
    .where("finished_file_id", "is", null)
    .where("expires_at", ">", value.rowsAfter),
);

/** The lengths of the account's unfinished uploads whose rows go after `rowsAfter`. */
export async function sumHeldBytes(queries: Queries, value: { accountId: string; rowsAfter: number }): Promise<number> {
  return Number((await queries.first(heldBytes(queries, value)))?.bytes ?? 0);
}
