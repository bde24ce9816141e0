import type { Deps } from "../../deps.ts";
import type { Principal, RequestOrigin } from "../../http/handlers.ts";
import type { Session } from "../../ports/database.ts";
import { recordChange } from "../changes/store.ts";
import { hashRefreshToken } from "./refresh-tokens.ts";
import { endSession, findRefreshToken } from "./store.ts";

type Needs = Pick<Deps, "clock" | "random">;

export interface Ending {
  readonly accountId: string;
  readonly sessionId: string;
  /** null: somebody who only held a refresh token. */
  readonly actor: Principal | null;
  readonly origin: RequestOrigin;
}

/** Ends a session, and says so in the audit log the first time. Its access tokens fail from the next request on. */
export async function endOneSession(deps: Needs, transaction: Session, ending: Ending): Promise<void> {
  const { accountId, sessionId: id } = ending;
  const ended = await transaction.run(endSession(transaction, { accountId, id, now: deps.clock.now() }));
  if (ended === 1) await recordEnding(deps, transaction, "session.ended", ending);
}

/** Ends the session that a refresh token belongs to, be it live, used or over; an unknown token is no error. */
export async function logOut(
  deps: Needs & Pick<Deps, "database">,
  token: string,
  origin: RequestOrigin,
): Promise<void> {
  const hash = hashRefreshToken(token);
  await deps.database.transaction(
    async (transaction) => {
      const found = await transaction.first(findRefreshToken(transaction, { hash }));
      if (found === null) return;
      const { account_id: accountId, session_id: sessionId } = found;
      await endOneSession(deps, transaction, { accountId, sessionId, actor: null, origin });
    },
    // Logging out must work on a full disk too.
    { freesSpace: true },
  );
}

export async function recordEnding(
  deps: Needs,
  transaction: Session,
  action: "session.ended" | "session.reuse_detected",
  { accountId, sessionId, actor, origin }: Ending,
): Promise<void> {
  await recordChange(transaction, {
    accountId,
    action,
    actor,
    origin,
    target: { kind: "session", id: sessionId },
    occurredAt: deps.clock.now(),
    id: deps.random.uuid(),
  });
}
