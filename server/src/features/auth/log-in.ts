import type { SignedIn } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { actOn } from "../account/act.ts";
import { openSession } from "../sessions/opening.ts";
import { verifyPassword } from "./passwords.ts";
import { startSignIn, recordFailedSignIn, recordSignIn } from "./sign-in-delays.ts";
import { renderSignedIn } from "./signed-in.ts";
import { findPassword } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "jwtKeys" | "settings">;

/**
 * Opens a session for an e-mail and its password. One answer and the same work for an unknown e-mail, an account without
 * a password and a wrong password (ASVS 5.0 6.3.8).
 * @throws ServiceError `wrong_credentials`; `rate_limited` while failures for this e-mail ask for a wait; `unavailable`.
 */
export async function logIn(
  deps: Needs,
  { email, password }: { email: string; password: string },
  origin: RequestOrigin,
): Promise<SignedIn> {
  const signingIn = { email, address: origin.address };
  await startSignIn(deps, signingIn);
  const found = await deps.database.first(findPassword(deps.database, { email }));
  const hash = found?.password_hash ?? null;
  if (!(await verifyPassword(password, hash)) || found === null) {
    await recordFailedSignIn(deps, signingIn);
    throw new ServiceError("wrong_credentials");
  }
  return actOn(deps, found.id, async (act) => {
    // Changed while it was being compared: that change ended every session, and this one must not slip in behind it.
    if (act.account.password_hash !== hash) throw new ServiceError("wrong_credentials");
    const tokens = await openSession(deps, act, { method: "password", origin });
    await recordSignIn(deps, act, signingIn);
    return renderSignedIn(deps, act.account, tokens);
  });
}
