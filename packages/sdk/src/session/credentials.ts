/** A web session as a client's credential: refreshed silently. Renewal itself is loaded when the first one is due. */
import { SessionEndedError } from "../errors.ts";
import type { Bearer, Connection } from "../options.ts";
import { INSPECT, REDACTED, Secret } from "../secret.ts";
import type { SessionOptions, SessionState, Renewal } from "./state.ts";

/** Renewed this long before the end, in milliseconds, or with a fifth of the life left. */
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
      ...{ freshUntil: null, presented: false, unsaved: null, ended: null, renewing: null },
    };
  }

  /** What to send now; renewed before when it is about to end. Rejects with SessionEndedError when it cannot be. */
  async bearer(connection: Connection): Promise<Bearer> {
    const state = this.#state;
    if (this.#endsAt !== null) state.freshUntil = freshUntil(connection, this.#endsAt - performance.now());
    this.#endsAt = null;
    if (!isFresh(connection, state)) await this.#renew(connection, state.accessToken);
    const secret = state.accessToken;
    if (secret === null) throw new SessionEndedError("answer_lost");
    return { secret, userId: null, renew: () => this.#renew(connection, secret) };
  }

  /** For signing out: the refresh token, after a renewal that is under way. Calls are refused from then on. */
  async leave(): Promise<Secret> {
    await this.#state.renewing?.catch(() => undefined);
    this.#state.ended ??= new SessionEndedError("signed_out");
    return this.#state.refreshToken;
  }

  /** Replaces `rejected`, unless somebody has done so; all that ask meanwhile wait for the same renewal. */
  #renew(connection: Connection, rejected: Secret | null): Promise<void> {
    const state = this.#state;
    if (state.accessToken !== rejected && isFresh(connection, state)) return Promise.resolve();
    const renewal: Renewal = {
      ...{ state, rejected, connection },
      isFresh: () => isFresh(connection, state),
      freshUntil: (lifeMs) => freshUntil(connection, lifeMs),
    };
    return (state.renewing ??= import("./renewal.ts")
      .then(({ renew }) => renew(renewal))
      .finally(() => {
        state.renewing = null;
      }));
  }

  toJSON(): string {
    return REDACTED;
  }

  toString(): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return `SessionCredentials ${REDACTED}`;
  }
}

/** Until when a token that lives `lifeMs` from now counts as fresh. */
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
 * A web session as a credential. Its access token is renewed shortly before it ends, or when the service no longer takes it; calls
 * that wait for it share one renewal, and a refresh token is sent once: when its answer is lost, the session has ended
 * ({@link SessionEndedError}), since a second use would look like a theft.
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
