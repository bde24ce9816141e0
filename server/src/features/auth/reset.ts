import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { RequestOrigin } from "../../handler.ts";
import { hashPassword, requireStrongPassword } from "./passwords.ts";
import { forgetSignIns } from "./sign-in-delays.ts";
import { recordChange } from "../changes/store.ts";
import { endAllSessions } from "../sessions/ending.ts";
import { hashMailToken } from "../mail-tokens/rules.ts";
import { endMailTokens, setPassword, useMailToken } from "../mail-tokens/store.ts";
import { requireLiveToken } from "../mail-tokens/live-token.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

/**
 * Sets a new password for a mailed token, which is used up by the very transaction that sets it: so a refused password
 * leaves the token as it was, and of any number of callers one succeeds. Every session ends, and every other reset token
 * of the account (ASVS 5.0 6.4.3, 7.4.3).
 * @throws ServiceError `token_invalid`, `weak_password`, `unavailable` when too many passwords are being hashed.
 */
export async function resetPassword(
  deps: Needs,
  { token, newPassword }: { token: string; newPassword: string },
  origin: RequestOrigin,
): Promise<void> {
  const hash = hashMailToken(token);
  // Asked before the hashing, which is dear, and again by the use itself, which decides.
  const { email, name } = await requireLiveToken(deps, hash, "reset");
  requireStrongPassword(newPassword, { email, name });
  const passwordHash = await hashPassword(newPassword);
  await deps.database.transaction(async (transaction) => {
    const now = deps.clock.now();
    const used = await transaction.first(useMailToken(transaction, { hash, purpose: "reset", now }));
    if (used === null) throw new ServiceError("token_invalid");
    const id = used.account_id;
    const change = { id, email: used.email, to: passwordHash, now };
    if ((await transaction.first(setPassword(transaction, change))) === null) throw new ServiceError("token_invalid");
    await endMailTokens(transaction, { accountId: id, purpose: "reset", now });
    await recordChange(transaction, {
      ...{ accountId: id, action: "account.password_changed", actor: null, origin },
      ...{ target: { kind: "account", id }, occurredAt: now, id: deps.random.uuid() },
    });
    await endAllSessions(deps, transaction, { accountId: id, exceptId: null, actor: null, origin });
    // Waits after wrong passwords were for whoever guessed; the account's owner has shown another proof.
    await forgetSignIns(transaction, used.email);
  });
}
