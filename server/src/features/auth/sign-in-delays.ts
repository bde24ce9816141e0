/**
 * Waits that grow with wrong passwords for one e-mail, registered or not, and never lock it out (decisions §2,
 * "login"). They are rows, by the database's clock. So guesses sent to several processes wait like those to one, and a
 * restart forgets nothing.
 * A client whose sign-in succeeded has waits of its own from then on. Otherwise somebody who keeps guessing elsewhere
 * would take every turn when a wait ends, and lock the owner out (OWASP "device cookies", here by address). A guesser
 * gains nothing by it: only the right password makes a client familiar.
 */
import { hash } from "node:crypto";
import type { Deps } from "../../deps.ts";
import { clientKeyOf } from "../../limits/client-key.ts";
import { refusalFor } from "../../limits/limits.ts";
import { type Queries, readClock } from "../../ports/database.ts";
import type { SignInDelayRow } from "../../ports/tables.ts";
import { type Attempts, startAttempt, failAttempt, FAMILIAR_MS } from "./sign-in-delay-rules.ts";
import { deleteDelay, findDelay, prolong, writeDelay } from "./sign-in-delays-store.ts";

type Needs = Pick<Deps, "database" | "settings">;

export interface SigningIn {
  readonly email: string;
  /** The client's address. */
  readonly address: string;
}

/** A loss of power may forget the last attempts: it takes longer than the waits that they would have brought. */
const VOLATILE = { durable: false } as const;

/** Begins an attempt, which counts from now on. Throws `rate_limited` while a wait is on. */
export async function startSignIn(deps: Needs, signingIn: SigningIn): Promise<void> {
  const wait = await change(deps, signingIn, startAttempt);
  if (wait > 0) throw refusalFor(wait);
}

/** The password was wrong. */
export async function recordFailedSignIn(deps: Needs, signingIn: SigningIn): Promise<void> {
  await change(deps, signingIn, failAttempt);
}

/** The password was right: what this client had to wait for is forgotten, and it is familiar. */
export async function recordSignIn({ database }: Needs, transaction: Queries, signingIn: SigningIn): Promise<void> {
  const now = await readClock(database, transaction);
  await deleteDelay(transaction, await keyFor(transaction, signingIn, now));
  await prolong(transaction, familiarKeyOf(signingIn), now + FAMILIAR_MS);
}

/** The account's owner has shown another proof, such as a mailed token: nobody's guesses hold him up any more. */
export async function forgetSignIns(transaction: Queries, email: string): Promise<void> {
  await deleteDelay(transaction, keyOf(email));
}

type Rule = (known: Attempts | null, now: number, free: number) => Attempts | { readonly wait: number };

/** The milliseconds that are to be waited; 0: the row is as the rule wants it. */
async function change({ database, settings }: Needs, signingIn: SigningIn, rule: Rule): Promise<number> {
  for (;;) {
    const wait = await database.transaction(async (transaction) => {
      const key = await keyFor(transaction, signingIn, await readClock(database, transaction));
      const known: SignInDelayRow | null = await findDelay(transaction, key);
      // After the row, which another process may just have written: an earlier reading could be before it, and make somebody wait.
      const now = await readClock(database, transaction);
      const next = rule(known, now, settings.rates.signInFailures);
      if ("wait" in next) return next.wait;
      return (await writeDelay(transaction, { key, ...next }, known)) ? 0 : null;
    }, VOLATILE);
    if (wait !== null) return wait;
  }
}

async function keyFor(queries: Queries, signingIn: SigningIn, now: number): Promise<string> {
  const familiar = await findDelay(queries, familiarKeyOf(signingIn));
  return familiar !== null && familiar.expires_at > now ? keyOf(bothOf(signingIn)) : keyOf(signingIn.email);
}

function familiarKeyOf(signingIn: SigningIn): string {
  return keyOf(`familiar ${bothOf(signingIn)}`);
}

/** No e-mail address of the contract and no address of a client holds a blank. */
function bothOf({ email, address }: SigningIn): string {
  return `${email} ${clientKeyOf(address)}`;
}

/** As long as every other; and what somebody typed in place of an e-mail is not kept. */
function keyOf(text: string): string {
  return hash("sha256", text, "base64url");
}
