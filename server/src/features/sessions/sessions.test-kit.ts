/** TEST ONLY: sessions without a sign-in, whose password hash would take the time of the test. */
import type { SessionTokens } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { actOn } from "../account/act.ts";
import { openAccount } from "../account/opening.ts";
import { openSession } from "./opening.ts";

export const ORIGIN = { requestId: "request", address: "127.0.0.1", userAgent: "test" };

export interface OpenedSession extends SessionTokens {
  readonly accountId: string;
  readonly sessionId: string;
}

type Needs = Pick<Deps, "database" | "clock" | "random" | "jwtKeys">;

/** A new account's id. */
export async function addAccount(deps: Needs): Promise<string> {
  const email = `${deps.random.uuid()}@example.test`;
  const wanted = { email, emailVerified: true, name: null, plan: "free" } as const;
  return deps.database.transaction((transaction) =>
    openAccount(deps, transaction, wanted, (act) => Promise.resolve(act.account.id)),
  );
}

/** A session of the account, or of a new one. */
export async function addSession(deps: Needs, accountId?: string): Promise<OpenedSession> {
  const id = accountId ?? (await addAccount(deps));
  const wanted = { method: "password", origin: ORIGIN } as const;
  const opened = await actOn(deps, id, (act) => openSession(deps, act, wanted));
  return { ...opened, accountId: id };
}
