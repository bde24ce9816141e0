/** The rows of waits after wrong passwords. A write names what was read: of two at once, one has to read again. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { SignInDelayRow } from "../../ports/tables.ts";

type Row = { [Column in keyof SignInDelayRow]: SignInDelayRow[Column] };

const find = prepared((build, value: { key: string }) =>
  build.selectFrom("sign_in_delays").selectAll().where("key", "=", value.key),
);

export function findDelay(queries: Queries, key: string): Promise<SignInDelayRow | null> {
  return queries.first(find(queries, { key }));
}

const add = prepared((build, row: Row) =>
  build
    .insertInto("sign_in_delays")
    .values({ key: row.key, attempts: row.attempts, next_at: row.next_at, expires_at: row.expires_at })
    .onConflict((conflict) => conflict.column("key").doNothing()),
);

const change = prepared((build, row: Row & { knownAttempts: number; knownNextAt: number; knownExpiresAt: number }) =>
  build
    .updateTable("sign_in_delays")
    .set({ attempts: row.attempts, next_at: row.next_at, expires_at: row.expires_at })
    .where("key", "=", row.key)
    .where("attempts", "=", row.knownAttempts)
    .where("next_at", "=", row.knownNextAt)
    .where("expires_at", "=", row.knownExpiresAt),
);

/** False when the row is not as it was `known` any more. */
export async function writeDelay(
  transaction: Queries,
  row: SignInDelayRow,
  known: SignInDelayRow | null,
): Promise<boolean> {
  const was = known && {
    knownAttempts: known.attempts,
    knownNextAt: known.next_at,
    knownExpiresAt: known.expires_at,
  };
  const query = was === null ? add(transaction, { ...row }) : change(transaction, { ...row, ...was });
  return (await transaction.run(query)) === 1;
}

const remove = prepared((build, value: { key: string }) =>
  build.deleteFrom("sign_in_delays").where("key", "=", value.key),
);

export async function deleteDelay(transaction: Queries, key: string): Promise<void> {
  await transaction.run(remove(transaction, { key }));
}

const replace = prepared((build, row: Row) =>
  build
    .insertInto("sign_in_delays")
    .values({ key: row.key, attempts: row.attempts, next_at: row.next_at, expires_at: row.expires_at })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ expires_at: row.expires_at })),
);

/** Whatever was read before: the row stays until its new end. */
export async function prolong(transaction: Queries, key: string, expiresAt: number): Promise<void> {
  await transaction.run(replace(transaction, { key, attempts: 0, next_at: 0, expires_at: expiresAt }));
}
