/** A web session: its tokens, and where they are kept. */
import type { Secret } from "../http/secret.ts";
import type { SessionEndedError } from "../http/errors.ts";

/** A session's tokens as they are kept between pages and processes. */
export interface StoredSession {
  /** Makes the next pair of tokens, once. */
  readonly refreshToken: Secret;
  /** Goes with every call; null when there is none. */
  readonly accessToken: Secret | null;
  /** When the access token ends, by this machine's clock, in milliseconds since the Unix epoch; null when that is unknown. */
  readonly expiresAt: number | null;
  /** The refresh token has been sent. Without an answer it must not be sent again: the service would treat it as stolen. */
  readonly presented: boolean;
}

/** A store for a session that several pages or processes share. Both methods are called under the lock. */
export interface SessionStore {
  load(): Promise<StoredSession | null>;
  /** When it resolves, its argument must be there after a crash; the new access token is used only then. */
  save(session: StoredSession): Promise<void>;
}

/** Lets one holder in at a time, among all that share a session. */
export type SessionLock = <Value>(work: () => Promise<Value>) => Promise<Value>;

export interface SessionOptions {
  readonly refreshToken: string | Secret;
  readonly accessToken?: string | Secret | null | undefined;
  /** Seconds until the access token ends, from the answer of the sign-in. */
  readonly expiresIn?: number | undefined;
  /** When it ends by this machine's clock, in milliseconds since the Unix epoch; for stored tokens. */
  readonly expiresAt?: number | null | undefined;
  /** Gets every new pair before it is used. A pair that it could not take is offered again before the next call. */
  readonly onRotated?: ((session: StoredSession) => void | Promise<void>) | undefined;
  /** Called once, when the person has to sign in again. */
  readonly onEnded?: ((error: SessionEndedError) => void) | undefined;
  readonly store?: SessionStore | undefined;
  /** Lets one holder in at a time. Default with a store: Web Locks, if the runtime has them. */
  readonly lock?: SessionLock | undefined;
}
