/** A web session as a client's credential. Each refresh token is exchanged at most once, whatever happens to the answer. */
import { ACCESS_TOKEN_SECONDS, authGroup, type SessionTokens } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { configurationError, ConnectionError, isAnswered, SdkError, SessionEndedError } from "../http/errors.ts";
import { errorCode, sanitizeCause } from "../http/redaction.ts";
import { INSPECT, REDACTED, Secret } from "../http/secret.ts";
import type { Bearer, Connection } from "./options.ts";
import type { SessionLock, SessionOptions, StoredSession } from "./web-session.ts";

/** Renewed this long before the end, in milliseconds, or with a fifth of the lifetime left. */
const MARGIN = 30_000;

/** Made by {@link sessionCredentials}. Never shows a token. */
export class SessionCredentials {
  readonly #options: SessionOptions;
  #refreshToken: Secret;
  #accessToken: Secret | null;
  /** When the access token ends, by the system's monotonic clock; until a connection brings its own. */
  #endsAt: number | null;
  /** By the connection's clock; null when nobody has the time: then the service says when it is over. */
  #freshUntil: number | null = null;
  /** The refresh token has been sent. */
  #presented = false;
  /** A pair that the store does not have yet. */
  #unsaved: StoredSession | null = null;
  #ended: SessionEndedError | null = null;
  #renewing: Promise<void> | null = null;

  constructor(options: SessionOptions) {
    const { refreshToken, accessToken = null, expiresIn, expiresAt = null } = options;
    const untilExpiry = expiresAt === null ? null : expiresAt - Date.now();
    const lifeMs = expiresIn === undefined ? untilExpiry : expiresIn * 1000;
    this.#options = options;
    this.#endsAt = lifeMs === null ? null : performance.now() + lifeMs;
    this.#refreshToken = wrap(refreshToken);
    this.#accessToken = accessToken === null ? null : wrap(accessToken);
  }

  /** The token to send now; renews one that is about to end. Rejects with SessionEndedError when it cannot. */
  async bearer(connection: Connection): Promise<Bearer> {
    if (this.#endsAt !== null) this.#freshUntil = freshUntil(connection, this.#endsAt - performance.now());
    this.#endsAt = null;
    if (!this.#isFresh(connection)) await this.#renew(connection, this.#accessToken);
    const secret = this.#accessToken;
    if (secret === null) throw new SessionEndedError("answer_lost");
    return { secret, userId: null, renew: () => this.#renew(connection, secret) };
  }

  /** For signing out: the refresh token, after a renewal that is under way. Later calls are refused. */
  async end(): Promise<Secret> {
    await this.#renewing?.catch(() => undefined);
    this.#ended ??= new SessionEndedError("signed_out");
    return this.#refreshToken;
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

  /** Replaces `rejected`, unless somebody has done so; all callers meanwhile wait for the same renewal. */
  #renew(connection: Connection, rejected: Secret | null): Promise<void> {
    if (this.#accessToken !== rejected && this.#isFresh(connection)) return Promise.resolve();
    return (this.#renewing ??= this.#renewUnderLock(connection, rejected).finally(() => {
      this.#renewing = null;
    }));
  }

  async #renewUnderLock(connection: Connection, rejected: Secret | null): Promise<void> {
    const { store, lock } = this.#options;
    const locked = lock ?? (store === undefined ? withoutLock : webLock(connection.service.origin));
    await locked(() => this.#renewLocked(connection, rejected));
  }

  /** Gets a pair that is not the rejected one. Rejects with SessionEndedError when the person has to sign in again. */
  async #renewLocked(connection: Connection, rejected: Secret | null): Promise<void> {
    if (this.#unsaved !== null) return this.#save(this.#unsaved);
    const isTakenOver = await this.#takeOverStored(connection);
    if (this.#ended !== null) throw this.#ended;
    // Compared as text: the stored one is another object of the same token.
    if (isTakenOver && this.#isFresh(connection) && this.#accessToken?.reveal() !== rejected?.reveal()) return;
    if (this.#presented) throw this.#endFor("answer_lost");
    // Without a network nothing is sent, and the token keeps its one use.
    if (scope.navigator?.onLine === false)
      throw new ConnectionError(`No answer from ${connection.service.origin} (offline)`);
    await this.#recordPresented(true);
    let tokens: SessionTokens;
    try {
      const body = { refreshToken: this.#refreshToken.reveal() };
      // Never twice: a call that is not repeated by itself cannot send a token again.
      tokens = await callOn(connection, authGroup.refresh, { body }, { retries: 0 });
    } catch (error) {
      throw await this.#failureOfExchange(error);
    }
    const pair = wrapPair(tokens);
    this.#use(connection, pair);
    await this.#save(pair);
  }

  /** Takes over the pair that another page or process has stored since. */
  async #takeOverStored(connection: Connection): Promise<boolean> {
    const stored = await callOwner(() => this.#options.store?.load());
    if (stored == null) return false;
    // After a sign-in elsewhere there is another session: go on with that one.
    if (this.#ended !== null && stored.refreshToken.reveal() === this.#refreshToken.reveal()) return false;
    this.#ended = null;
    this.#use(connection, stored);
    return true;
  }

  /** Whether the refresh token has been sent, here and where it is stored. */
  async #recordPresented(presented: boolean): Promise<void> {
    const [accessToken, refreshToken] = [this.#accessToken, this.#refreshToken];
    await callOwner(() => this.#options.store?.save({ refreshToken, accessToken, expiresAt: null, presented }));
    this.#presented = presented;
  }

  /** What a failed exchange means: nothing happened, the service refused, or the result is unknown. */
  async #failureOfExchange(error: unknown): Promise<unknown> {
    if (isUnused(error)) {
      await this.#recordPresented(false);
      return error;
    }
    const refused = isAnswered(error) && error.status < 500;
    return this.#endFor(refused ? "refused" : "answer_lost", error instanceof Error ? error : undefined);
  }

  #endFor(reason: "refused" | "answer_lost", cause?: Error): SessionEndedError {
    const error = cause instanceof SessionEndedError ? cause : new SessionEndedError(reason, cause);
    this.#ended = error;
    this.#options.onEnded?.(error);
    return error;
  }

  /** A wall clock that was set back must not make a token last longer than any does. */
  #use(connection: Connection, { expiresAt, refreshToken, accessToken, presented }: StoredSession): void {
    const lifeMs = expiresAt === null ? null : Math.min(expiresAt - Date.now(), ACCESS_TOKEN_SECONDS * 1000);
    this.#freshUntil = lifeMs === null ? null : freshUntil(connection, lifeMs);
    this.#refreshToken = refreshToken;
    this.#accessToken = accessToken;
    this.#presented = presented;
  }

  /** A pair is unused until it is stored: a crash would leave the old refresh token, whose second use ends the session. */
  async #save(pair: StoredSession): Promise<void> {
    this.#unsaved = pair;
    await callOwner(() => this.#options.store?.save(pair));
    await callOwner(() => this.#options.onRotated?.(pair));
    this.#unsaved = null;
  }

  #isFresh({ clock }: Connection): boolean {
    const isUsable = this.#accessToken !== null && this.#unsaved === null && this.#ended === null;
    return isUsable && (this.#freshUntil === null || clock.now() < this.#freshUntil);
  }
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

/** Until when a token with `lifeMs` left counts as fresh. */
function freshUntil({ clock }: Connection, lifeMs: number): number {
  return clock.now() + lifeMs - Math.min(MARGIN, lifeMs / 5);
}

function wrap(token: string | Secret): Secret {
  return typeof token === "string" ? new Secret(token) : token;
}

function wrapPair({ accessToken, refreshToken, expiresIn }: SessionTokens): StoredSession {
  return {
    refreshToken: new Secret(refreshToken),
    accessToken: new Secret(accessToken),
    expiresAt: Date.now() + expiresIn * 1000,
    presented: false,
  };
}

const withoutLock: SessionLock = (work) => work();

/** One lock per service, for all pages of an origin (W3C Web Locks). Without Web Locks, pages do not wait for each other. */
function webLock(origin: string): SessionLock {
  const locks = scope.navigator?.locks;
  if (locks === undefined) return withoutLock;
  return async (work) => await locks.request(`coffer session ${origin}`, async () => await work());
}

/** As it is across runtimes: the types promise a browser everywhere. */
const scope: { readonly navigator?: { readonly locks?: LockManager; readonly onLine?: boolean } } = globalThis;

/** Codes of a system that could not even reach the service. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"]);

function isUnused(error: unknown): boolean {
  if (error instanceof ConnectionError) return NEVER_SENT.has(errorCode(error) ?? "");
  if (!isAnswered(error)) return false;
  // Refused before any work; so is a 4xx without a code of the catalogue: it is not from the service.
  const { code, status } = error;
  return code === "rate_limited" || code === "unavailable" || (code === "unknown_error" && status < 500);
}

/** A failure here is the caller's own store, not the connection. */
async function callOwner<Value>(call: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SdkError) throw error;
    throw configurationError("The session's tokens could not be read or saved", sanitizeCause(error));
  }
}
