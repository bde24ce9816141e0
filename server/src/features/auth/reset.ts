import type { Deps } from "../../deps.ts";
import { ServiceError } from "../../service-error.ts";
import type { RequestOrigin } from "../../handler.ts";
import { actOn } from "../account/act.ts";
import { hashPassword, requireStrongPassword } from "./passwords.ts";
import { forgetSignIns } from "./sign-in-delays.ts";
import { endAllSessions } from "../sessions/ending.ts";
import { hashMailToken } from "../mail-tokens/rules.ts";
import { endMailTokens, useMailToken } from "../mail-tokens/store.ts";
import { requireLiveToken } from "../mail-tokens/live-token.ts";

type Needs = Pick<Deps, "database" | "clock" | "random">;

/**
 * Sets a new password for a mailed token. The transaction that sets it uses the token up. So a refused password leaves
 * the token as it was, and only one of several callers succeeds. Every session ends, and every other reset token of
 * the account (ASVS 5.0 6.4.3, 7.4.3).
 * @throws ServiceError `token_invalid`, `weak_password`, `unavailable` when too many passwords are being hashed.
 */
export async function resetPassword(
  deps: Needs,
  { token, newPassword }: { token: string; newPassword: string },
  origin: RequestOrigin,
): Promise<void> {
  const hash = hashMailToken(token);
  // Asked before the hashing, which is dear, and again by the use itself, which decides.
  const { account_id: id, email, name } = await requireLiveToken(deps, hash, "reset");
  requireStrongPassword(newPassword, { email, name });
  const passwordHash = await hashPassword(newPassword);
  await actOn(deps, id, async (act) => {
    const now = deps.clock.now();
    const used = await act.first(useMailToken(act, { hash, purpose: "reset", now }));
    // The token proves only the address that it was mailed to.
    if (used?.email !== act.account.email) throw new ServiceError("token_invalid");
    act.change({ password_hash: passwordHash, updated_at: now });
    await endMailTokens(act, { accountId: id, purpose: "reset", now });
    const target = { kind: "account", id };
    await act.record({ action: "account.password_changed", actor: null, origin, target });
    await endAllSessions(deps, act, { exceptId: null, actor: null, origin });
    // Waits after wrong passwords were for the person who guessed; the account's owner has shown another proof.
    await forgetSignIns(act, used.email);
  });
}
