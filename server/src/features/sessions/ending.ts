import type { Deps } from "../../deps.ts";
import type { Principal, RequestOrigin } from "../../handler.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { hashRefreshToken } from "./refresh-tokens.ts";
import { endSession, endSessions, findRefreshToken } from "./store.ts";

export interface Ending {
  readonly sessionId: string;
  /** null: somebody who only held a refresh token. */
  readonly actor: Principal | null;
  readonly origin: RequestOrigin;
}

/** Ends a session, and says so in the audit log the first time. Its access tokens fail from the next request on. */
export async function endOneSession(deps: Pick<Deps, "clock">, act: AccountAct, ending: Ending): Promise<void> {
  const { sessionId: id } = ending;
  const ended = await act.run(endSession(act, { accountId: act.account.id, id, now: deps.clock.now() }));
  if (ended === 1) await recordEnding(act, "session.ended", ending);
}

/**
 * Ends the sessions of an account, all but one if it is named, because its password has changed. Each open one gets an
 * entry in the audit log. If there are more than {@link MOST_RECORDED}, only the newest do, and the change itself
 * covers the rest.
 */
export async function endAllSessions(
  { clock }: Pick<Deps, "clock">,
  act: AccountAct,
  { exceptId, ...whose }: Omit<Ending, "sessionId"> & { readonly exceptId: string | null },
): Promise<void> {
  const now = clock.now();
  const ended = await endSessions(act, { accountId: act.account.id, exceptId, now });
  const live = ended.filter((row) => row.expires_at > now).sort((a, b) => b.created_at - a.created_at);
  for (const { id } of live.slice(0, MOST_RECORDED)) {
    await recordEnding(act, "session.ended", { ...whose, sessionId: id });
  }
}

/** Nobody has so many, but anybody with the password can make any number: no transaction may last that long. */
const MOST_RECORDED = 100;

/** Ends the session of a refresh token, whether that is valid, used or over; an unknown token is no error. */
export async function logOut(
  deps: Pick<Deps, "database" | "clock" | "random">,
  token: string,
  origin: RequestOrigin,
): Promise<void> {
  // Outside of a transaction: who makes tokens up must not hold up those who write.
  const found = await deps.database.first(findRefreshToken(deps.database, { hash: hashRefreshToken(token) }));
  if (found === null || found.revoked_at !== null) return;
  const { account_id: accountId, session_id: sessionId } = found;
  await actOn(
    deps,
    accountId,
    (act) => endOneSession(deps, act, { sessionId, actor: null, origin }),
    // Logging out must work on a full disk too.
    { freesSpace: true },
  );
}

export async function recordEnding(
  act: AccountAct,
  action: "session.ended" | "session.reuse_detected",
  { sessionId, actor, origin }: Ending,
): Promise<void> {
  await act.record({ action, actor, origin, target: { kind: "session", id: sessionId } });
}
