import type { SessionTokens } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { Reply, type RequestOrigin } from "../../handler.ts";
import { headersOf, type Limits } from "../../limits/limits.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actOn } from "../account/act.ts";
import { mintAccessToken } from "./access-tokens.ts";
import { recordEnding } from "./ending.ts";
import { hashRefreshToken, mintRefreshToken } from "./refresh-tokens.ts";
import { refreshEndsAt, secondsUntil } from "./rules.ts";
import { endSession, extendSession, findRefreshToken, insertRefreshToken, rotateRefreshToken } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "jwtKeys"> & { readonly limits: Limits };

/**
 * Exchanges a refresh token for a new pair. The exchange is one conditional UPDATE: only one of several callers with
 * the same token succeeds. The second caller proves that the token is in two hands. That ends the whole family, the
 * first caller's new tokens included (specification §3, RFC 9700 §4.14.2). There is no grace for a repeat.
 * @throws ServiceError `session_ended`, the same for every reason; `rate_limited`.
 */
export async function refreshSession(deps: Needs, token: string, origin: RequestOrigin): Promise<Reply<SessionTokens>> {
  const hash = hashRefreshToken(token);
  // Names the family whose rate this counts against; the UPDATE decides what a valid token is worth.
  const known = await deps.database.first(findRefreshToken(deps.database, { hash }));
  if (known === null || known.revoked_at !== null) throw new ServiceError("session_ended");
  // No rate for a used token, which ends the family: else who stole it could use the rate up and stay unnoticed.
  const headers = known.rotated_at === null ? headersOf(await deps.limits.consume("refresh", known.session_id)) : {};
  const tokens = await actOn(
    deps,
    known.account_id,
    async (act) => (await rotate(deps, act, hash, origin)) ?? endRefused(deps, act, hash, origin),
  );
  // Thrown out here: the end of a family must be committed.
  if (tokens === null) throw new ServiceError("session_ended", undefined, { headers });
  return new Reply(tokens, { headers });
}

async function rotate(
  deps: Needs,
  transaction: Queries,
  hash: string,
  { userAgent }: RequestOrigin,
): Promise<SessionTokens | null> {
  const now = deps.clock.now();
  const used = await transaction.first(rotateRefreshToken(transaction, { hash, now }));
  if (used === null) return null;
  const id = used.session_id;
  const session = await transaction.first(
    extendSession(transaction, { id, now, expiresAt: refreshEndsAt(now, Infinity), userAgent }),
  );
  // Ended by another process since: its transaction has committed, so this one takes nothing back by rolling back.
  if (session === null) throw new ServiceError("session_ended");
  const minted = mintRefreshToken(deps.random);
  const expiresAt = session.expires_at;
  await transaction.run(insertRefreshToken(transaction, { hash: minted.hash, sessionId: id, now, expiresAt }));
  const access = mintAccessToken(deps, { accountId: session.account_id, sessionId: id, endsAt: expiresAt });
  return { ...access, refreshToken: minted.text, refreshExpiresIn: secondsUntil(expiresAt, now) };
}

/**
 * Ends the family of a token that was used before. The family of a token that has only expired is over too. It is
 * ended so that a clock that is set back does not bring it back. Resolves null.
 */
async function endRefused(deps: Needs, act: AccountAct, hash: string, origin: RequestOrigin): Promise<null> {
  const token = await act.first(findRefreshToken(act, { hash }));
  if (token === null) return null;
  const { account_id: accountId, session_id: sessionId } = token;
  const now = deps.clock.now();
  const ended = await act.run(endSession(act, { accountId, id: sessionId, now }));
  const action = token.rotated_at === null ? "session.ended" : "session.reuse_detected";
  if (ended === 1) await recordEnding(act, action, { sessionId, actor: null, origin });
  return null;
}
