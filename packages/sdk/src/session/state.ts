/** What a session knows, and where it is kept. */
import { type Secret } from "../secret.ts";
import { type SessionEndedError } from "../errors.ts";
import type { Connection } from "../options.ts";

/** A session's tokens as they are kept between pages and processes. */
export interface StoredSession {
  readonly refreshToken: Secret;
  readonly accessToken: Secret | null;
  /** When the access token ends, by this machine's clock, in milliseconds since the Unix epoch; null when that is not known. */
  readonly expiresAt: number | null;
  /** The refresh token has been sent. Without an answer it must not be sent again: the service would take it for stolen. */
  readonly presented: boolean;
}

/** Where a session is kept that several pages or processes share. Both are called under the lock. */
export interface SessionStore {
  load(): Promise<StoredSession | null>;
  /** What it was given must be there after a crash when it resolves; the new access token is used only then. */
  save(session: StoredSession): Promise<void>;
}

/** Lets one holder in at a time, among all that share a session. */
export type SessionLock = <Value>(work: () => Promise<Value>) => Promise<Value>;

export interface SessionOptions {
  readonly refreshToken: string | Secret;
  readonly accessToken?: string | Secret | null | undefined;
  /** Seconds that the access token lives from now, as the sign-in answered it. */
  readonly expiresIn?: number | undefined;
  /** When it ends by this machine's clock, in milliseconds since the Unix epoch; for tokens that were kept. */
  readonly expiresAt?: number | null | undefined;
  /** Gets every new pair before it is used. A pair that it could not take is offered again before the next call. */
  readonly onRotated?: ((session: StoredSession) => void | Promise<void>) | undefined;
  /** Once, when the person has to sign in again. */
  readonly onEnded?: ((error: SessionEndedError) => void) | undefined;
  readonly store?: SessionStore | undefined;
  /** With a store: Web Locks, where the runtime has them, when absent. */
  readonly lock?: SessionLock | undefined;
}

/** What a session knows at the moment; for the modules of this directory. */
export interface SessionState {
  readonly options: SessionOptions;
  refreshToken: Secret;
  accessToken: Secret | null;
  /** By the connection's clock; null when nobody knows: then the service says when it is over. */
  freshUntil: number | null;
  presented: boolean;
  /** A pair that is not yet where it is kept. */
  unsaved: StoredSession | null;
  ended: SessionEndedError | null;
  renewing: Promise<void> | null;
}

/** What a renewal needs of the connection. */
export interface Renewal {
  readonly state: SessionState;
  readonly connection: Connection;
  readonly rejected: Secret | null;
  isFresh(): boolean;
  /** Until when a token that lives so long from now counts as fresh, in milliseconds. */
  freshUntil(lifeMs: number): number;
}
