/** For tests of sessions: a service with one account that hands out and renews tokens, by mocks over the fake. */
import { api, type SessionTokens } from "@coffer/contract";
import { createClient } from "../client.ts";
import { createFake, Failure } from "../testing/index.ts";
import type { Transport } from "../http/transports.ts";

const ACCESS_SECONDS = 900;
const REFRESH_SECONDS = 30 * 86_400;

export interface SessionService {
  readonly fetch: Transport;
  /** A new session. */
  readonly signIn: () => SessionTokens;
  /** Makes an access token invalid before its time. */
  readonly forget: (accessToken: string) => void;
  readonly endSessions: () => void;
  /** Whether each session is over, oldest first. */
  readonly ended: () => readonly boolean[];
}

interface Session {
  refreshToken: string;
  /** Refresh tokens before this one: whoever shows one has stolen it, or was robbed. */
  readonly used: Set<string>;
  /** Their ends, in milliseconds since 1970. */
  readonly accessTokens: Map<string, number>;
  isOver: boolean;
}

/** `now`: the service's clock, in milliseconds since 1970. */
export async function openSessionService(now: () => number = Date.now): Promise<SessionService> {
  const fake = createFake();
  const baseUrl = "http://coffer.test";
  const visitor = createClient({ baseUrl, transport: fake.fetch });
  const { apiKey } = await visitor.development.signup({ email: "me@example.com" });
  const owner = createClient({ baseUrl, transport: fake.fetch, credentials: { apiKey } });
  const { account, credential } = await owner.account.get();
  const sessions: Session[] = [];
  const ofRefreshToken = (token: string): Session | undefined =>
    sessions.find(({ refreshToken, used }) => refreshToken === token || used.has(token));
  const issue = (session: Session): SessionTokens => {
    const [accessToken, refreshToken] = [crypto.randomUUID(), crypto.randomUUID()];
    session.accessTokens.set(accessToken, now() + ACCESS_SECONDS * 1000);
    session.refreshToken = refreshToken;
    return { accessToken, refreshToken, expiresIn: ACCESS_SECONDS, refreshExpiresIn: REFRESH_SECONDS };
  };
  fake.mock(api.auth.refresh, ({ body: { refreshToken } }) => {
    const session = ofRefreshToken(refreshToken);
    if (session?.used.has(refreshToken) === true) session.isOver = true;
    if (session?.isOver !== false) throw new Failure("session_ended");
    session.used.add(refreshToken);
    return issue(session);
  });
  fake.mock(api.auth.logout, ({ body: { refreshToken } }) => {
    const session = ofRefreshToken(refreshToken);
    if (session !== undefined) session.isOver = true;
  });
  fake.mock(api.account.get, (_input, request) => {
    const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
    const session = sessions.find(({ accessTokens }) => (accessTokens.get(token) ?? 0) > now());
    if (session?.isOver !== false) throw new Failure("invalid_credential");
    return { account, credential: { ...credential, kind: "session" } };
  });
  return {
    fetch: fake.fetch,
    signIn: () => {
      const session: Session = { refreshToken: "", used: new Set(), accessTokens: new Map(), isOver: false };
      sessions.push(session);
      return issue(session);
    },
    forget: (accessToken) => {
      for (const { accessTokens } of sessions) accessTokens.delete(accessToken);
    },
    endSessions: () => {
      for (const session of sessions) session.isOver = true;
    },
    ended: () => sessions.map(({ isOver }) => isOver),
  };
}
