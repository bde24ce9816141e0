/**
 * The changes of one account as server-sent events (WHATWG HTML §9.2 "Server-sent events"), from a sequence number on and
 * for as long as somebody reads.
 */
import type { Clock } from "../../ports/clock.ts";
import type { Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";
import { listChangesAfter } from "../changes/store.ts";
import { renderPayload } from "../webhooks/payload.ts";

export interface FeedParts {
  readonly database: Queries;
  readonly clock: Pick<Clock, "elapsed">;
  /** Resolves after so many milliseconds, or as soon as the signal aborts; never rejects. Tests bring their own. */
  readonly pause?: Pause;
}

export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface FeedStart {
  readonly accountId: string;
  /** The sequence number that the reader has seen last. */
  readonly after: number;
  /** The feed ends when it aborts. */
  readonly signal: AbortSignal;
}

/** Rows of one step: what a feed holds in memory for a reader that is slow. */
export const BATCH = 100;
/** Between two looks for changes; those of other processes show no later. One look reads one page of an index. Milliseconds. */
const POLL = 250;
/** Proxies cut connections that are silent, and a reader that is gone shows only when it is written to (§9.2.7: "every 15 seconds or so"). */
const HEARTBEAT = 15_000;
/** After which a browser connects again, in milliseconds. */
const RETRY = 2_000;

/**
 * Each part is whole events. A part is made when the one before it has been taken: a slow reader costs one batch, and
 * nothing is read ahead for it.
 */
export async function* openFeed(parts: FeedParts, start: FeedStart): AsyncGenerator<Uint8Array, void, undefined> {
  const { database, clock, pause = pauseFor } = parts;
  const { accountId, signal } = start;
  let { after } = start;
  let spokeAt = clock.elapsed();
  // An id without data tells nothing and is remembered (§9.2.6, "dispatch the event"): who is cut off before the first event
  // comes back to this place.
  yield encode(`retry: ${RETRY}\nid: ${after}\n\n`);
  while (!signal.aborted) {
    const changes = await listChangesAfter(database, { accountId, after, limit: BATCH });
    after = changes.at(-1)?.sequence ?? after;
    const silent = clock.elapsed() - spokeAt >= HEARTBEAT;
    const text = changes.map(renderEvent).join("") || (silent ? ": keep-alive\n\n" : "");
    if (text !== "") {
      yield encode(text);
      spokeAt = clock.elapsed();
    }
    if (changes.length < BATCH) await pause(POLL, signal);
  }
}

/** Nothing for a change that is no event, such as a sign-in. JSON has no line break, so the data is one line. */
function renderEvent(change: ChangeRow): string {
  const payload = renderPayload(change);
  return payload === null ? "" : `id: ${change.sequence}\nevent: ${change.action}\ndata: ${payload}\n\n`;
}

function encode(text: string): Uint8Array {
  return Buffer.from(text);
}

function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener("abort", finish);
  });
}
