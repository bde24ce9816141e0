/** Mails that were asked for, and the tokens that were mailed. A token's text is kept nowhere: only its SHA-256 is. */
import { prepared, type Queries } from "../../ports/database.ts";
import type { AccountRow, MailRequestRow, MailTokenRow } from "../../ports/tables.ts";
import type { MailNotice, MailPurpose } from "./rules.ts";

type Row<Kind> = { [Column in keyof Kind]: Kind[Column] };

const addRequest = prepared((build, row: Row<MailRequestRow>) =>
  build.insertInto("mail_requests").values({
    id: row.id,
    purpose: row.purpose,
    email: row.email,
    attempts: row.attempts,
    not_before: row.not_before,
    created_at: row.created_at,
  }),
);

export async function insertMailRequest(
  queries: Queries,
  row: MailRequestRow & { readonly purpose: MailPurpose | MailNotice },
): Promise<void> {
  await queries.run(addRequest(queries, { ...row }));
}

/**
 * When a request is due. Its time has come, or is so far ahead (beyond every wait there is) that the clock has been
 * set back since it was written.
 */
interface Due {
  readonly now: number;
  readonly beyond: number;
}

const findDue = prepared((build, value: Row<Due>) =>
  build
    .selectFrom("mail_requests")
    .select("id")
    .where((row) => row.or([row("not_before", "<=", value.now), row("not_before", ">", value.beyond)]))
    .limit(1),
);

/** Whether there is one: a look that takes no lock, for the many rounds in which there is none. */
export async function hasDueRequest(queries: Queries, due: Due): Promise<boolean> {
  return (await queries.first(findDue(queries, { ...due }))) !== null;
}

const claim = prepared((build, value: Row<Due> & { leaseEnd: number }) =>
  build
    .updateTable("mail_requests")
    .set((row) => ({ not_before: value.leaseEnd, attempts: row("attempts", "+", 1) }))
    .where("id", "=", (row) =>
      row
        .selectFrom("mail_requests as due")
        .select("due.id")
        .where((of) => of.or([of("due.not_before", "<=", value.now), of("due.not_before", ">", value.beyond)]))
        .orderBy("due.not_before")
        .limit(1),
    )
    // Once more: where writers run side by side, another may have claimed it since it was chosen.
    .where((row) => row.or([row("not_before", "<=", value.now), row("not_before", ">", value.beyond)]))
    .returningAll(),
);

/** Takes the request that has been due longest, for nobody else until `leaseEnd`; null when there is none. */
export function claimRequest(
  transaction: Queries,
  due: Due,
  leaseEnd: number,
): Promise<(MailRequestRow & { purpose: string }) | null> {
  return transaction.first(claim(transaction, { ...due, leaseEnd }));
}

const postpone = prepared((build, value: { id: string; attempts: number; notBefore: number }) =>
  build
    .updateTable("mail_requests")
    .set({ not_before: value.notBefore })
    .where("id", "=", value.id)
    .where("attempts", "=", value.attempts),
);

/** Changes nothing when another has claimed it since, its lease being over. */
export async function postponeRequest(
  queries: Queries,
  request: Pick<MailRequestRow, "id" | "attempts">,
  notBefore: number,
): Promise<void> {
  await queries.run(postpone(queries, { id: request.id, attempts: request.attempts, notBefore }));
}

const removeRequest = prepared((build, value: { id: string }) =>
  build.deleteFrom("mail_requests").where("id", "=", value.id),
);

export async function deleteRequest(queries: Queries, id: string): Promise<void> {
  await queries.run(removeRequest(queries, { id }));
}

export type Recipient = Pick<AccountRow, "id" | "email" | "email_verified" | "password_hash" | "idp_id">;

const recipient = prepared((build, value: { email: string }) =>
  build
    .selectFrom("accounts")
    .select(["id", "email", "email_verified", "password_hash", "idp_id"])
    .where("email", "=", value.email),
);

/** The account with the address; null when there is none. */
export function findRecipient(queries: Queries, email: string): Promise<Recipient | null> {
  return queries.first(recipient(queries, { email }));
}

const addToken = prepared((build, row: Row<Omit<MailTokenRow, "used_at">>) =>
  build.insertInto("mail_tokens").values({
    hash: row.hash,
    account_id: row.account_id,
    purpose: row.purpose,
    email: row.email,
    expires_at: row.expires_at,
    used_at: null,
  }),
);

export async function insertMailToken(
  transaction: Queries,
  row: Omit<MailTokenRow, "used_at"> & { readonly purpose: MailPurpose },
): Promise<void> {
  await transaction.run(addToken(transaction, { ...row }));
}

/** The token and its account, used and expired ones too. */
export const findMailToken = prepared((build, value: { hash: string; purpose: string }) =>
  build
    .selectFrom("mail_tokens")
    .innerJoin("accounts", "accounts.id", "mail_tokens.account_id")
    .select([
      "mail_tokens.account_id",
      "mail_tokens.used_at",
      "mail_tokens.expires_at",
      "accounts.email",
      "accounts.name",
    ])
    .where("mail_tokens.hash", "=", value.hash)
    .where("mail_tokens.purpose", "=", value.purpose)
    .whereRef("accounts.email", "=", "mail_tokens.email"),
);

/** Uses a token up: of any number of callers at the same time, one gets the row. */
export const useMailToken = prepared((build, value: { hash: string; purpose: string; now: number }) =>
  build
    .updateTable("mail_tokens")
    .set({ used_at: value.now })
    .where("hash", "=", value.hash)
    .where("purpose", "=", value.purpose)
    .where("used_at", "is", null)
    .where("expires_at", ">", value.now)
    .returning(["account_id", "email"]),
);

const endExpired = prepared((build, value: { hash: string; now: number }) =>
  build
    .updateTable("mail_tokens")
    .set({ used_at: value.now })
    .where("hash", "=", value.hash)
    .where("used_at", "is", null)
    .where("expires_at", "<=", value.now),
);

/** A token that was refused for its age stays refused, also when the clock is set back. */
export async function endExpiredToken(queries: Queries, hash: string, now: number): Promise<void> {
  await queries.run(endExpired(queries, { hash, now }));
}

const endAll = prepared((build, value: { accountId: string; purpose: string; now: number }) =>
  build
    .updateTable("mail_tokens")
    .set({ used_at: value.now })
    .where("account_id", "=", value.accountId)
    .where("purpose", "=", value.purpose)
    .where("used_at", "is", null),
);

/** Ends every token of the account for this purpose: call it where a password changes, by whatever way. */
export async function endMailTokens(
  transaction: Queries,
  { accountId, purpose, now }: { accountId: string; purpose: MailPurpose; now: number },
): Promise<void> {
  await transaction.run(endAll(transaction, { accountId, purpose, now }));
}
