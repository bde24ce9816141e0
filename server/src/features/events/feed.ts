/**
 * The changes of one account as server-sent events (WHATWG HTML §9.2 "Server-sent events"), from a sequence number on and
 * for as long as somebody reads.
 */
import type { Clock } from "../../ports/clock.ts";
import type { Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";
import { listChangesAfter } from "../changes/store.ts";
import { type ChangeFilter, inVaults } from "./change-page.ts";
import type { Heads } from "./heads.ts";
import { renderPayload } from "../webhooks/payload.ts";

export interface FeedParts {
  readonly database: Queries;
  readonly clock: Pick<Clock, "elapsed">;
  readonly heads: Heads;
}

export interface FeedStart {
  readonly accountId: string;
  /** The sequence number that the reader has seen last. */
  readonly after: number;
  readonly vaultIds: ChangeFilter["vaultIds"];
  /** The feed ends when it aborts. */
  readonly signal: AbortSignal;
}

/** Rows of one step: what a feed holds in memory for a reader that is slow. */
export const BATCH = 100;
/** Proxies cut connections that are silent, and a reader that is gone shows only when it is written to (§9.2.7: "every 15 seconds or so"). */
const HEARTBEAT = 15_000;
/** After which a browser connects again, in milliseconds. */
const RETRY = 2_000;

/**
 * Each part is whole events. A part is made when the one before it has been taken: a slow reader costs one batch, and
 * nothing is read ahead for it.
 */
export async function* openFeed(parts: FeedParts, start: FeedStart): AsyncGenerator<Uint8Array, void, undefined> {
  const { database, clock, heads } = parts;
  const { accountId, vaultIds, signal } = start;
  let { after } = start;
  let spokeAt = clock.elapsed();
  // An id without data is no event, and is remembered (§9.2.6, "dispatch the event"). So a reader that is cut off
  // before the first event comes back to this place.
  yield encode(`retry: ${RETRY}\nid: ${after}\n\n`);
  while (!signal.aborted) {
    const changes = await listChangesAfter(database, { accountId, after, limit: BATCH });
    after = changes.at(-1)?.sequence ?? after;
    const silent = clock.elapsed() - spokeAt >= HEARTBEAT;
    const text =
      changes
        .filter((change) => inVaults(change, vaultIds))
        .map(renderEvent)
        .join("") || (silent ? ": keep-alive\n\n" : "");
    if (text !== "") {
      yield encode(text);
      spokeAt = clock.elapsed();
    }
    if (changes.length < BATCH) await heads.beyond({ accountId, after, until: spokeAt + HEARTBEAT }, signal);
  }
}

/** Nothing for a change that is not an event, such as a sign-in. JSON has no line break, so the data is one line. */
function renderEvent(change: ChangeRow): string {
  const payload = renderPayload(change);
  return payload === null ? "" : `id: ${change.sequence}\nevent: ${change.action}\ndata: ${payload}\n\n`;
}

function encode(text: string): Uint8Array {
  return Buffer.from(text);
}
