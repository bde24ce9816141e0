/** A web session as a client's credential: refreshed silently. */
import { SessionEndedError } from "../http/errors.ts";
import type { Bearer, Connection } from "./options.ts";
import { INSPECT, REDACTED, Secret } from "../http/secret.ts";
import { renew } from "./session-renewal.ts";
import type { SessionOptions, SessionState, Renewal } from "./session.ts";

/** Renewed this long before the end, in milliseconds, or with a fifth of the lifetime left. */
const MARGIN = 30_000;

/** Made by {@link sessionCredentials}. Never shows a token. */
export class SessionCredentials {
  readonly #state: SessionState;
  /** When the access token ends, by the system's monotonic clock; until a connection brings its own. */
  #endsAt: number | null;

  constructor(options: SessionOptions) {
    const { refreshToken, accessToken = null, expiresIn, expiresAt = null } = options;
    const kept = expiresAt === null ? null : expiresAt - Date.now();
    const lifeMs = expiresIn === undefined ? kept : expiresIn * 1000;
    this.#endsAt = lifeMs === null ? null : performance.now() + lifeMs;
    this.#state = {
      options,
      refreshToken: wrap(refreshToken),
      accessToken: accessToken === null ? null : wrap(accessToken),
      freshUntil: null,
      presented: false,
      unsaved: null,
      ended: null,
      renewing: null,
    };
  }

  /** The token to send now; renews one that is about to end. Rejects with SessionEndedError when it cannot. */
  async bearer(connection: Connection): Promise<Bearer> {
    const state = this.#state;
    if (this.#endsAt !== null) state.freshUntil = freshUntil(connection, this.#endsAt - performance.now());
    this.#endsAt = null;
    if (!isFresh(connection, state)) await this.#renew(connection, state.accessToken);
    const secret = state.accessToken;
    if (secret === null) throw new SessionEndedError("answer_lost");
    return { secret, userId: null, renew: () => this.#renew(connection, secret) };
  }

  /** For signing out: the refresh token, after a renewal that is under way. Later calls are refused. */
  async leave(): Promise<Secret> {
    await this.#state.renewing?.catch(() => undefined);
    this.#state.ended ??= new SessionEndedError("signed_out");
    return this.#state.refreshToken;
  }

  /** Replaces `rejected`, unless somebody has done so; all callers meanwhile wait for the same renewal. */
  #renew(connection: Connection, rejected: Secret | null): Promise<void> {
    const state = this.#state;
    if (state.accessToken !== rejected && isFresh(connection, state)) return Promise.resolve();
    const renewal: Renewal = {
      state,
      rejected,
      connection,
      isFresh: () => isFresh(connection, state),
      freshUntil: (lifeMs) => freshUntil(connection, lifeMs),
    };
    return (state.renewing ??= renew(renewal).finally(() => {
      state.renewing = null;
    }));
  }

  /** Shows no token. */
  toJSON(): string {
    return REDACTED;
  }

  /** Shows no token. */
  toString(): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return `SessionCredentials ${REDACTED}`;
  }
}

/** Until when a token with `lifeMs` left counts as fresh. */
function freshUntil({ clock }: Connection, lifeMs: number): number {
  return clock.now() + lifeMs - Math.min(MARGIN, lifeMs / 5);
}

function isFresh({ clock }: Connection, { accessToken, freshUntil: until, unsaved, ended }: SessionState): boolean {
  return accessToken !== null && unsaved === null && ended === null && (until === null || clock.now() < until);
}

function wrap(token: string | Secret): Secret {
  return typeof token === "string" ? new Secret(token) : token;
}

/**
 * A web session as a credential. The client renews its access token shortly before it ends, or when the service
 * refuses it. Calls that wait for it share one renewal. It sends a refresh token once: if the answer is lost, the
 * session has ended ({@link SessionEndedError}), because a second use would look like a theft.
 *
 * @example
 * ```ts
 * const signedIn = await client.auth.login({ email: "me@example.com", password });
 * const session = sessionCredentials({ ...signedIn, onEnded: () => location.assign("/sign-in") });
 * const mine = createClient({ baseUrl, credentials: session });
 * ```
 */
export function sessionCredentials(options: SessionOptions): SessionCredentials {
  return new SessionCredentials(options);
}
