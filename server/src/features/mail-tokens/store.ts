/** Mails that were asked for, and the tokens that were mailed. A token's text is kept nowhere: only its SHA-256 is. */
import { prepared, type Session } from "../../ports/database.ts";
import type { MailRequestRow } from "../../ports/tables.ts";

/** What a mail and its token are for. */
export type MailPurpose = "verify" | "reset";

const addRequest = prepared((build, value: { [Name in keyof MailRequestRow]: MailRequestRow[Name] }) =>
  build.insertInto("mail_requests").values({
    id: value.id,
    purpose: value.purpose,
    email: value.email,
    attempts: value.attempts,
    not_before: value.not_before,
    created_at: value.created_at,
  }),
);

export async function insertMailRequest(
  session: Session,
  row: MailRequestRow & { readonly purpose: MailPurpose },
): Promise<void> {
  await session.run(addRequest(session, { ...row }));
}
