import type { SessionTokens } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import type { AccountAct } from "../account/act.ts";
import { mintAccessToken } from "./access-tokens.ts";
import { mintRefreshToken } from "./refresh-tokens.ts";
import { insertRefreshToken, insertSession } from "./store.ts";
import { refreshEndsAt, secondsUntil, SESSION_LIFE } from "./rules.ts";

export interface WantedSession {
  readonly method: "password" | "idp" | "zklogin";
  readonly origin: RequestOrigin;
}

/**
 * Begins a session and records `session.created`, inside the act that allows it. The tokens leave the server in the
 * answer and exist nowhere else. The row holds the refresh token's SHA-256 (ASVS 5.0 7.2.3, 256 random bits).
 */
export async function openSession(
  deps: Pick<Deps, "clock" | "random" | "jwtKeys">,
  act: AccountAct,
  wanted: WantedSession,
): Promise<SessionTokens & { sessionId: string }> {
  const { method, origin } = wanted;
  const accountId = act.account.id;
  const sessionId = deps.random.uuid();
  const now = deps.clock.now();
  const endsAt = now + SESSION_LIFE;
  const refreshToken = mintRefreshToken(deps.random);
  const expiresAt = refreshEndsAt(now, endsAt);
  await insertSession(act, {
    id: sessionId,
    account_id: accountId,
    method,
    user_agent: origin.userAgent,
    created_at: now,
    last_used_at: now,
    expires_at: expiresAt,
    ends_at: endsAt,
    revoked_at: null,
  });
  await act.run(insertRefreshToken(act, { hash: refreshToken.hash, sessionId, now, expiresAt }));
  await act.record({ action: "session.created", actor: null, origin, target: { kind: "session", id: sessionId } });
  const access = mintAccessToken(deps, { accountId, sessionId, endsAt: expiresAt });
  return { ...access, refreshToken: refreshToken.text, refreshExpiresIn: secondsUntil(expiresAt, now), sessionId };
}
