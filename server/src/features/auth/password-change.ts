import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { actAs } from "../account/act.ts";
import { findAccount } from "../account/store.ts";
import { endMailTokens } from "../mail-tokens/store.ts";
import { endAllSessions } from "../sessions/ending.ts";
import { hashPassword, requireStrongPassword, verifyPassword } from "./passwords.ts";
import { startSignIn, recordFailedSignIn, recordSignIn } from "./sign-in-delays.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

/**
 * Sets a new password against the current one (ASVS 5.0 6.2.3). It ends every session but the caller's own (ASVS 5.0
 * 7.4.3), and reset links that are on their way. Wrong passwords count as failed sign-ins: a stolen session must not
 * be a way to try passwords.
 * @throws ServiceError `wrong_password`, `weak_password`, `rate_limited`, `unavailable`.
 */
export async function changePassword(
  deps: Needs,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  principal: Principal,
): Promise<void> {
  const id = principal.accountId;
  const account = await deps.database.first(findAccount(deps.database, { id }));
  if (account === null) throw new ServiceError("invalid_credential");
  const { email, name, password_hash: from } = account;
  const signingIn = { email, address: principal.origin.address };
  await startSignIn(deps, signingIn);
  if (!(await verifyPassword(currentPassword, from)) || from === null) {
    await recordFailedSignIn(deps, signingIn);
    throw new ServiceError("wrong_password");
  }
  await deps.database.transaction((transaction) => recordSignIn(deps, transaction, signingIn), { durable: false });
  requireStrongPassword(newPassword, { email, name });
  const to = await hashPassword(newPassword);
  await actAs(deps, principal, async (act) => {
    const now = deps.clock.now();
    // Changed by somebody else while this one was being hashed.
    if (act.account.password_hash !== from) throw new ServiceError("wrong_password");
    act.change({ password_hash: to, updated_at: now });
    await endMailTokens(act, { accountId: id, purpose: "reset", now });
    await act.record({ action: "account.password_changed", actor: principal, target: { kind: "account", id } });
    const { sessionId: exceptId, origin } = principal;
    await endAllSessions(deps, act, { exceptId, actor: principal, origin });
  });
}
