/** The exchange of a refresh token for a new pair: at most once per token, whatever happens to the answer. */
import { ACCESS_TOKEN_SECONDS, authGroup, type SessionTokens } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { configurationError, ConnectionError, isAnswered, SdkError, SessionEndedError } from "../http/errors.ts";
import { errorCode, sanitizeCause } from "../http/redaction.ts";
import { Secret } from "../http/secret.ts";
import type { Renewal, SessionLock, SessionState, StoredSession } from "./session.ts";

/** Gets a pair that is not the rejected one. Rejects with SessionEndedError when the person has to sign in again. */
export async function renew(renewal: Renewal): Promise<void> {
  const { lock, store } = renewal.state.options;
  await (lock ?? (store === undefined ? alone : webLock(renewal.connection.place.origin)))(() => renewLocked(renewal));
}

const alone: SessionLock = (work) => work();

/** One lock per service, for all pages of an origin (W3C Web Locks). Without Web Locks, pages do not wait for each other. */
function webLock(origin: string): SessionLock {
  const locks = scope.navigator?.locks;
  if (locks === undefined) return alone;
  return async (work) => await locks.request(`coffer session ${origin}`, async () => await work());
}

/** As it is across runtimes: the types promise a browser everywhere. */
const scope: { readonly navigator?: { readonly locks?: LockManager; readonly onLine?: boolean } } = globalThis;

async function renewLocked(renewal: Renewal): Promise<void> {
  const { state, rejected, connection } = renewal;
  if (state.unsaved !== null) return save(state, state.unsaved);
  const adopted = await adopt(renewal);
  if (state.ended !== null) throw state.ended;
  // Compared as text: the stored one is another object of the same token.
  if (adopted && renewal.isFresh() && state.accessToken?.reveal() !== rejected?.reveal()) return;
  if (state.presented) throw end(state, "answer_lost");
  // Without a network nothing is sent, and the token keeps its one use.
  if (scope.navigator?.onLine === false)
    throw new ConnectionError(`No answer from ${connection.place.origin} (offline)`);
  await note(state, true);
  let tokens: SessionTokens;
  try {
    const body = { refreshToken: state.refreshToken.reveal() };
    // Never twice: a call that is not repeated by itself cannot send a token again.
    tokens = await callOn(connection, authGroup.refresh, { body }, { retries: 0 });
  } catch (error) {
    throw await settle(state, error);
  }
  const pair = wrapped(tokens);
  take(renewal, pair);
  await save(state, pair);
}

/** Takes the pair that another page or process has put there since. */
async function adopt(renewal: Renewal): Promise<boolean> {
  const { state } = renewal;
  const stored = await keep(() => state.options.store?.load());
  if (stored == null) return false;
  // After a sign-in elsewhere there is another session: go on with that one.
  if (state.ended !== null && stored.refreshToken.reveal() === state.refreshToken.reveal()) return false;
  state.ended = null;
  take(renewal, stored);
  return true;
}

/** Whether the refresh token has been sent, here and where it is kept. */
async function note(state: SessionState, presented: boolean): Promise<void> {
  const { accessToken, refreshToken } = state;
  await keep(() => state.options.store?.save({ refreshToken, accessToken, expiresAt: null, presented }));
  state.presented = presented;
}

/** What a failed exchange means: nothing happened, the service refused, or the result is unknown. */
async function settle(state: SessionState, error: unknown): Promise<unknown> {
  if (wasNotTaken(error)) {
    await note(state, false);
    return error;
  }
  const refused = isAnswered(error) && error.status < 500;
  return end(state, refused ? "refused" : "answer_lost", error instanceof Error ? error : undefined);
}

/** Codes of a system that could not even reach the service. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"]);

function wasNotTaken(error: unknown): boolean {
  if (error instanceof ConnectionError) return NEVER_SENT.has(errorCode(error) ?? "");
  if (!isAnswered(error)) return false;
  // Refused before any work; so is a 4xx without a code of the catalogue: it is not from the service.
  const { code, status } = error;
  return code === "rate_limited" || code === "unavailable" || (code === "unknown_error" && status < 500);
}

function end(state: SessionState, reason: "refused" | "answer_lost", cause?: Error): SessionEndedError {
  const error = cause instanceof SessionEndedError ? cause : new SessionEndedError(reason, cause);
  state.ended = error;
  state.options.onEnded?.(error);
  return error;
}

function wrapped({ accessToken, refreshToken, expiresIn }: SessionTokens): StoredSession {
  return {
    refreshToken: new Secret(refreshToken),
    accessToken: new Secret(accessToken),
    expiresAt: Date.now() + expiresIn * 1000,
    presented: false,
  };
}

/** A wall clock that was set back must not make a token last longer than any does. */
function take(renewal: Renewal, { expiresAt, refreshToken, accessToken, presented }: StoredSession): void {
  const left = expiresAt === null ? null : Math.min(expiresAt - Date.now(), ACCESS_TOKEN_SECONDS * 1000);
  const freshUntil = left === null ? null : renewal.freshUntil(left);
  Object.assign(renewal.state, { refreshToken, accessToken, presented, freshUntil });
}

/** A pair is unused until it is kept: a crash would leave the old refresh token, whose second use ends the session. */
async function save(state: SessionState, pair: StoredSession): Promise<void> {
  state.unsaved = pair;
  await keep(() => state.options.store?.save(pair));
  await keep(() => state.options.onRotated?.(pair));
  state.unsaved = null;
}

/** A failure here is the caller's own store, not the connection. */
async function keep<Value>(work: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SdkError) throw error;
    throw configurationError("The session's tokens could not be read or saved", sanitizeCause(error));
  }
}
