/** TEST ONLY: accounts with a password on a test app, and their sessions. */
import type { Deps } from "../../deps.ts";
import type { SignedIn } from "@coffer/contract";
import { openTestDatabase } from "../../storage.test-kit.ts";
import type { Database } from "../../ports/database.ts";
import type { Tables } from "../../ports/tables.ts";
import type { TestAnswer, TestApp } from "../../app.test-kit.ts";
import { mintAccessCode } from "../access-codes/codes.ts";
import { hashAccessCode, insertAccessCode } from "../access-codes/store.ts";

/** Unrelated words, good for every test. */
export const PASSWORD = "violin harbour seventeen moss";

export interface CodeOptions {
  readonly uses?: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}

/** A new access code, as an operator's command makes it. */
export async function addAccessCode(
  { deps }: { readonly deps: Pick<Deps, "database" | "clock" | "random"> },
  options: CodeOptions = {},
): Promise<string> {
  const code = mintAccessCode(deps.random);
  await insertAccessCode(deps.database, {
    id: deps.random.uuid(),
    hash: hashAccessCode(code),
    note: null,
    uses_left: options.uses ?? 1,
    expires_at: options.expiresAt ?? null,
    revoked_at: options.revokedAt ?? null,
    created_at: deps.clock.now(),
  });
  return code;
}

export interface TestAccount extends SignedIn {
  readonly email: string;
}

/** A new account through the service's own sign-up. */
export async function signUpWithPassword(service: TestApp): Promise<TestAccount> {
  const email = `${service.deps.random.uuid()}@example.test`;
  const accessCode = await addAccessCode(service);
  const answer = await service.ask("POST", "/api/auth/signup", { json: { email, password: PASSWORD, accessCode } });
  return { email, ...tokensOf(answer, 201) };
}

export async function logInAgain(service: TestApp, email: string, password = PASSWORD): Promise<SignedIn> {
  return tokensOf(await service.ask("POST", "/api/auth/login", { json: { email, password } }), 200);
}

export function refresh(service: Pick<TestApp, "ask">, refreshToken: string): Promise<TestAnswer> {
  return service.ask("POST", "/api/auth/refresh", { json: { refreshToken } });
}

/** Whether a request with the access token is let in: the status of `GET /api/account`. */
export async function tryAccess(service: Pick<TestApp, "ask">, accessToken: string): Promise<number> {
  return (await service.ask("GET", "/api/account", { key: accessToken })).status;
}

/** The status and code of an answer, `200` or `401 session_ended`. */
export function outcomeOf({ status, headers }: TestAnswer): string {
  const code = headers["x-error-code"];
  return typeof code === "string" ? `${status} ${code}` : String(status);
}

function tokensOf(answer: TestAnswer, status: number): SignedIn {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${outcomeOf(answer)}`);
  return answer.body as unknown as SignedIn;
}

/** The actions in an account's part of the audit log, oldest first. */
export async function actionsOf({ deps: { database } }: Pick<TestApp, "deps">, accountId: string): Promise<string[]> {
  const query = database.build
    .selectFrom("changes")
    .select("action")
    .where("account_id", "=", accountId)
    .orderBy("sequence");
  return (await database.all(query)).map(({ action }) => action);
}

export async function countRows({ deps: { database } }: Pick<TestApp, "deps">, table: keyof Tables): Promise<number> {
  const query = database.build.selectFrom(table).select((row) => row.fn.countAll<number>().as("rows"));
  return (await database.first(query))?.rows ?? 0;
}

/** The database as another process has it: connections of its own to the same rows. */
export function openAgain({ directory }: Pick<TestApp, "directory">): Promise<Database> {
  return openTestDatabase(directory);
}

/** How many of each outcome. */
export function tally(outcomes: readonly string[]): Record<string, number> {
  return outcomes.reduce<Record<string, number>>((all, one) => ({ ...all, [one]: (all[one] ?? 0) + 1 }), {});
}

/** As if so many milliseconds had passed for waits after wrong passwords, by the clock of the database. */
export async function ageSignIns(database: Database, by: number): Promise<void> {
  await database.run(
    database.build
      .updateTable("sign_in_delays")
      .set((row) => ({ next_at: row("next_at", "-", by), expires_at: row("expires_at", "-", by) })),
  );
}
