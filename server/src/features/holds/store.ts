/** The SQL of what uploads in one request hold. */
import { prepared, type Session } from "../../ports/database.ts";
import type { UploadHoldRow } from "../../ports/tables.ts";

const others = prepared((build, value: { accountId: string; id: string; now: number }) =>
  build
    .selectFrom("upload_holds")
    .select((row) => row.fn.sum<number | string | null>("bytes").as("bytes"))
    .where("account_id", "=", value.accountId)
    .where("expires_at", ">", value.now)
    .where("id", "!=", value.id),
);

/** What all others hold of the account's storage, in whatever process; `id`: the one that is not counted. */
export async function sumHolds(
  session: Session,
  value: { readonly accountId: string; readonly id: string; readonly now: number },
): Promise<number> {
  return Number((await session.first(others(session, { ...value })))?.bytes ?? 0);
}

/** Makes the hold, or changes it. */
export async function putHold(transaction: Session, row: UploadHoldRow): Promise<void> {
  const { bytes, expires_at } = row;
  await transaction.run(
    transaction.build
      .insertInto("upload_holds")
      .values(row)
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ bytes, expires_at })),
  );
}

const drop = prepared((build, value: { id: string }) => build.deleteFrom("upload_holds").where("id", "=", value.id));

export async function deleteHold(transaction: Session, id: string): Promise<void> {
  await transaction.run(drop(transaction, { id }));
}

/** What killed processes left. */
export async function deleteExpiredHolds(transaction: Session, now: number): Promise<void> {
  await transaction.run(transaction.build.deleteFrom("upload_holds").where("expires_at", "<=", now));
}
