/** Finds the account of an identity (specification §4.2: "finds or creates the user"). */
import { email as emailAddress } from "@coffer/contract";
import * as z from "zod/mini";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { Identity } from "../../ports/identity-provider.ts";
import { ServiceError } from "../../service-error.ts";
import { admitNewUser } from "../access-codes/store.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { isKnownUser, openAccount } from "../account/opening.ts";
import { findAccountByEmail } from "../account/store.ts";
import { requestMail } from "../mail-tokens/requests.ts";
import { findAccountByIdentity } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

export interface Visitor {
  readonly identity: Identity;
  /** The access code that came with the sign-in. */
  readonly accessCodeHash: string | null;
  readonly origin: RequestOrigin;
}

/**
 * Runs `work` in the act that finds or makes the visitor's account: what it refuses leaves no account behind and uses no access code up.
 * @throws ServiceError `access_code_invalid`, `email_exists`, `provider_refused` for a new user without an e-mail.
 */
export async function withUser<Result>(
  deps: Needs,
  visitor: Visitor,
  work: (act: AccountAct) => Promise<Result>,
): Promise<Result> {
  try {
    return await findOrCreate(deps, visitor, work);
  } catch (error) {
    if (!isKnownUser(error) && !isForNewUsers(error)) throw error;
    // Another callback of the same person may have made the account between two of our looks.
    const { issuer, subject } = visitor.identity;
    const known = await deps.database.first(findAccountByIdentity(deps.database, { issuer, subject }));
    if (known !== null) return actOn(deps, known.id, work);
    throw isKnownUser(error) ? new ServiceError("email_exists", undefined, { cause: error }) : error;
  }
}

/** Refused as somebody who has no account yet: the e-mail is taken, or the access code used up, perhaps by the same person. */
function isForNewUsers(error: unknown): boolean {
  return error instanceof ServiceError && ["email_exists", "access_code_invalid"].includes(error.code);
}

async function findOrCreate<Result>(
  deps: Needs,
  visitor: Visitor,
  work: (act: AccountAct) => Promise<Result>,
): Promise<Result> {
  const { database } = deps;
  const { issuer, subject, emailVerified } = visitor.identity;
  const known = await database.first(findAccountByIdentity(database, { issuer, subject }));
  if (known !== null) return actOn(deps, known.id, work);
  const email = requireEmail(visitor.identity);
  const named = emailVerified ? await database.first(findAccountByEmail(database, { email })) : null;
  if (named !== null) {
    const linked = await actOn(deps, named.id, async (act) =>
      (await linkIdentity(deps, act, visitor)) ? { result: await work(act) } : null,
    );
    if (linked !== null) return linked.result;
  }
  return database.transaction((transaction) => create(deps, transaction, visitor, { email, work }));
}

/**
 * Gives an account its identity, if its e-mail is verified and it has none. Only an e-mail that both sides have
 * verified makes two accounts one. If ours were not, somebody could register with another person's address and wait
 * for their first sign-in at the provider. See Sudhodanan and Paverd, "Pre-hijacked accounts", USENIX Security 2022,
 * §4.1. If the provider's were not, anyone could name any address there ("nOAuth"). Rejects with ConstraintError when
 * another account has the identity.
 */
async function linkIdentity(
  { clock }: Needs,
  act: AccountAct,
  { identity: { issuer, subject }, origin }: Visitor,
): Promise<boolean> {
  const { id, email_verified, idp_id } = act.account;
  if (email_verified !== 1 || idp_id !== null) return false;
  act.change({ idp_id: subject, idp_issuer: issuer, updated_at: clock.now() });
  await act.record({ action: "account.identity_linked", actor: null, origin, target: { kind: "account", id } });
  return true;
}

/** The access code comes first, so that nobody without one learns which e-mail has an account. */
async function create<Result>(
  deps: Needs,
  transaction: Queries,
  { identity, accessCodeHash }: Visitor,
  { email, work }: { readonly email: string; readonly work: (act: AccountAct) => Promise<Result> },
): Promise<Result> {
  const { issuer, subject, emailVerified, name } = identity;
  const hasAccount = (await transaction.first(findAccountByEmail(transaction, { email }))) !== null;
  if (hasAccount && emailVerified) throw new ServiceError("email_exists");
  await admitNewUser(deps, transaction, accessCodeHash);
  if (hasAccount) throw new ServiceError("email_exists");
  const wanted = { email, emailVerified, name, plan: "free", identity: { issuer, subject } } as const;
  return openAccount(deps, transaction, wanted, async (act) => {
    if (!emailVerified) await requestMail(deps, act, "verify", email);
    return work(act);
  });
}

function requireEmail({ email }: Identity): string {
  const parsed = z.safeParse(emailAddress, email);
  if (parsed.success) return parsed.data;
  throw new ServiceError(
    "provider_refused",
    "An account needs an e-mail, and the identity provider gave none: allow it there, or sign up with a password",
  );
}
