import type { Deps } from "../../deps.ts";
import type { Queries } from "../../ports/database.ts";
import type { MailPurpose } from "./rules.ts";
import { insertMailRequest } from "./store.ts";

export type { MailPurpose } from "./rules.ts";

/**
 * Asks for a mail by a row; jobs/mail.ts finds out whether an account has the address, mints the token and sends. So the
 * asking costs the same for a known and an unknown address, and no token waits in the database (decisions §1).
 *
 * `queries` is the caller's transaction where the mail belongs to a change (a sign-up), else the database itself.
 */
export async function requestMail(
  deps: Pick<Deps, "clock" | "random">,
  queries: Queries,
  purpose: MailPurpose,
  email: string,
): Promise<void> {
  const now = deps.clock.now();
  await insertMailRequest(queries, {
    id: deps.random.uuid(),
    purpose,
    email,
    attempts: 0,
    not_before: now,
    created_at: now,
  });
}
