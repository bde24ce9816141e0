import type { SignedIn } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { accessCodeRefused, admitNewUser, hashAccessCode, maySignUp } from "../access-codes/store.ts";
import { isKnownUser, openAccount } from "../account/opening.ts";
import { findAccountByEmail } from "../account/store.ts";
import { requestMail } from "../mail-tokens/requests.ts";
import { openSession } from "../sessions/opening.ts";
import { hashPassword, requireStrongPassword } from "./passwords.ts";
import { renderSignedIn } from "./signed-in.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "jwtKeys" | "settings">;

export interface WantedSignUp {
  readonly email: string;
  readonly password: string;
  readonly name?: string | undefined;
  readonly accessCode?: string | undefined;
}

/**
 * An account, its verification mail and its first session, for one use of an access code (specification §5.5). All of
 * it is one transaction, so that a refused sign-up uses nothing up and leaves no row.
 * @throws ServiceError `weak_password`, `access_code_invalid`, `email_exists`, `unavailable`.
 */
export async function signUp(deps: Needs, wanted: WantedSignUp, origin: RequestOrigin): Promise<SignedIn> {
  const { email, password, name = null } = wanted;
  const codeHash = wanted.accessCode === undefined ? null : hashAccessCode(wanted.accessCode);
  // Asked before the hashing, which is dear, and again by the use itself, which decides.
  if (!(await maySignUp(deps, deps.database, codeHash))) throw accessCodeRefused(codeHash);
  requireStrongPassword(password, { email, name });
  const passwordHash = await hashPassword(password);
  try {
    return await deps.database.transaction((transaction) =>
      open(deps, transaction, { email, name, passwordHash, codeHash, origin }),
    );
  } catch (error) {
    // Another process took the address between the look and the insert.
    if (isKnownUser(error)) throw new ServiceError("email_exists", undefined, { cause: error });
    throw error;
  }
}

interface Checked {
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string;
  readonly codeHash: string | null;
  readonly origin: RequestOrigin;
}

async function open(deps: Needs, transaction: Queries, checked: Checked): Promise<SignedIn> {
  const { email, name, passwordHash, codeHash, origin } = checked;
  await admitNewUser(deps, transaction, codeHash);
  if ((await transaction.first(findAccountByEmail(transaction, { email }))) !== null) {
    throw new ServiceError("email_exists");
  }
  const wanted = { email, emailVerified: false, name, plan: "free", passwordHash } as const;
  return openAccount(deps, transaction, wanted, async (act) => {
    await requestMail(deps, act, "verify", email);
    const tokens = await openSession(deps, act, { method: "password", origin });
    return renderSignedIn(deps, act.account, tokens);
  });
}
