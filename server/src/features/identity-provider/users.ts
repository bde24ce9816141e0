/** Whose account an identity is (specification §4.2: "finds or creates the user"). */
import { email as emailAddress } from "@coffer/contract";
import * as z from "zod/mini";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import { ConstraintError, type Queries } from "../../ports/database.ts";
import type { Identity } from "../../ports/identity-provider.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { admitNewUser } from "../access-codes/store.ts";
import { openAccount } from "../account/opening.ts";
import { findAccountByEmail } from "../account/store.ts";
import { recordChange } from "../changes/store.ts";
import { requestMail } from "../mail-tokens/requests.ts";
import { findAccountByIdentity, linkIdentity } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "settings">;

export interface Visitor {
  readonly identity: Identity;
  /** Of the access code that came with the sign-in. */
  readonly accessCodeHash: string | null;
  readonly origin: RequestOrigin;
}

/**
 * Runs `work` with the visitor's account, found or made, in one transaction: what it refuses leaves no account behind and
 * uses no access code up.
 * @throws ServiceError `access_code_invalid`, `email_exists`, `provider_refused` for a new user without an e-mail.
 */
export async function withUser<Result>(
  deps: Needs,
  visitor: Visitor,
  work: (transaction: Queries, account: AccountRow) => Promise<Result>,
): Promise<Result> {
  const attempt = () =>
    deps.database.transaction(async (transaction) => work(transaction, await findOrCreate(deps, transaction, visitor)));
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
  }
  // Another callback of the same person made the account in between: now it is found.
  try {
    return await attempt();
  } catch (error) {
    throw error instanceof ConstraintError ? new ServiceError("email_exists", undefined, { cause: error }) : error;
  }
}

async function findOrCreate(deps: Needs, transaction: Queries, visitor: Visitor): Promise<AccountRow> {
  const { issuer, subject } = visitor.identity;
  const known = await transaction.first(findAccountByIdentity(transaction, { issuer, subject }));
  if (known !== null) return known;
  const email = requireEmail(visitor.identity);
  return (await linkByEmail(deps, transaction, visitor, email)) ?? create(deps, transaction, visitor, email);
}

/**
 * Only an e-mail that both sides have verified makes two accounts one. If ours were not, somebody could register with
 * another person's address and wait for their first sign-in at the provider (Sudhodanan and Paverd, "Pre-hijacked
 * accounts", USENIX Security 2022, §4.1); if the provider's were not, anyone could name any address there ("nOAuth").
 */
async function linkByEmail(
  deps: Needs,
  transaction: Queries,
  { identity, origin }: Visitor,
  email: string,
): Promise<AccountRow | null> {
  if (!identity.emailVerified) return null;
  const { issuer, subject } = identity;
  const now = deps.clock.now();
  const linked = await transaction.first(linkIdentity(transaction, { email, issuer, subject, now }));
  if (linked === null) return null;
  await recordChange(transaction, {
    ...{ accountId: linked.id, action: "account.identity_linked", actor: null, origin },
    target: { kind: "account", id: linked.id },
    occurredAt: now,
    id: deps.random.uuid(),
  });
  return linked;
}

/** The access code is asked for first, so that nobody without one learns whose e-mail has an account. */
async function create(deps: Needs, transaction: Queries, visitor: Visitor, email: string): Promise<AccountRow> {
  const { identity, accessCodeHash } = visitor;
  const hasAccount = (await transaction.first(findAccountByEmail(transaction, { email }))) !== null;
  if (hasAccount && identity.emailVerified) throw new ServiceError("email_exists");
  await admitNewUser(deps, transaction, accessCodeHash);
  if (hasAccount) throw new ServiceError("email_exists");
  const account = await openAccount(deps, transaction, {
    email,
    emailVerified: identity.emailVerified,
    name: identity.name,
    plan: "free",
    identity: { issuer: identity.issuer, subject: identity.subject },
  });
  if (!identity.emailVerified) await requestMail(deps, transaction, "verify", email);
  return account;
}

function requireEmail({ email }: Identity): string {
  const parsed = z.safeParse(emailAddress, email);
  if (parsed.success) return parsed.data;
  throw new ServiceError(
    "provider_refused",
    "An account needs an e-mail, and the identity provider gave none: allow it there, or sign up with a password",
  );
}
