import type { SessionTokens } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { RequestOrigin } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import { recordChange } from "../changes/store.ts";
import { mintAccessToken } from "./access-tokens.ts";
import { mintRefreshToken } from "./refresh-tokens.ts";
import { insertRefreshToken, insertSession } from "./store.ts";
import { refreshEndsAt, secondsUntil, SESSION_LIFE } from "./rules.ts";

export interface WantedSession {
  readonly accountId: string;
  readonly method: "password" | "idp" | "zklogin";
  readonly origin: RequestOrigin;
}

/**
 * Begins a session and records `session.created`, inside the transaction of what allows it. The tokens leave the server
 * in the answer and exist nowhere else: the refresh token is kept as its SHA-256 (ASVS 5.0 7.2.3, 256 random bits).
 */
export async function openSession(
  deps: Pick<Deps, "clock" | "random" | "jwtKeys">,
  transaction: Queries,
  wanted: WantedSession,
): Promise<SessionTokens & { sessionId: string }> {
  const { accountId, method, origin } = wanted;
  const sessionId = deps.random.uuid();
  const now = deps.clock.now();
  const endsAt = now + SESSION_LIFE;
  const refreshToken = mintRefreshToken(deps.random);
  const expiresAt = refreshEndsAt(now, endsAt);
  await insertSession(transaction, {
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
  await transaction.run(insertRefreshToken(transaction, { hash: refreshToken.hash, sessionId, now, expiresAt }));
  await recordChange(transaction, {
    accountId,
    action: "session.created",
    actor: null,
    origin,
    target: { kind: "session", id: sessionId },
    occurredAt: now,
    id: deps.random.uuid(),
  });
  const access = mintAccessToken(deps, { accountId, sessionId, endsAt: expiresAt });
  return { ...access, refreshToken: refreshToken.text, refreshExpiresIn: secondsUntil(expiresAt, now), sessionId };
}
