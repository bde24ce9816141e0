import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import { isOver } from "../../ports/stored-ends.ts";
import { MAIL_TOKEN_LIFE, type MailPurpose } from "./rules.ts";
import { endExpiredToken, findMailToken } from "./store.ts";

/**
 * The token's account. A look only, which spares dear work for made-up tokens; the use decides.
 * @throws ServiceError `token_invalid` for a token that is unknown, used, expired or of another purpose: one answer.
 */
export async function requireLiveToken(
  { database, clock }: Pick<Deps, "database" | "clock">,
  hash: string,
  purpose: MailPurpose,
): Promise<{ readonly account_id: string; readonly email: string; readonly name: string | null }> {
  const now = clock.now();
  const found = await database.first(findMailToken(database, { hash, purpose }));
  if (found === null || found.used_at !== null) throw new ServiceError("token_invalid");
  if (found.expires_at <= now) {
    await endExpiredToken(database, hash, now);
    throw new ServiceError("token_invalid");
  }
  // Sent while the clock was ahead, it would be good for as long as it was ahead. Another mail brings another one.
  if (isOver(found.expires_at, now, MAIL_TOKEN_LIFE[purpose])) throw new ServiceError("token_invalid");
  return found;
}
