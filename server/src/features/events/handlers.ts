import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type GroupHandlers, Reply } from "../../handler.ts";
import { ServiceError } from "../../service-error.ts";
import { visibleVaults } from "./changes.ts";
import { openFeed } from "./feed.ts";
import type { FeedPlace, OpenFeeds } from "./open-feeds.ts";
import type { Heads } from "./heads.ts";
import { findHead } from "./store.ts";

export interface EventsParts {
  readonly feeds: OpenFeeds;
  readonly heads: Heads;
}

type Needs = Pick<Deps, "database" | "clock"> & EventsParts;

/** nginx holds answers back to fill its buffers unless a header forbids it (ngx_http_proxy_module, `proxy_buffering`). */
const HEADERS = { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" };

export const eventsHandlers = (deps: Needs): GroupHandlers<typeof api.events> => ({
  async stream({ query, headers }, context) {
    const { accountId } = context.principal;
    const place = deps.feeds.open(accountId, context.signal);
    try {
      const head = await findHead(deps.database, accountId);
      const seen = headers["last-event-id"] ?? query.after ?? head;
      // A reader ahead of this data saw it before a backup was restored: its numbers come again, for other changes.
      if (seen > head) throw new ServiceError("cursor_expired");
      const vaultIds = visibleVaults(context.principal);
      const feed = openFeed(deps, { accountId, after: seen, vaultIds, signal: place.signal });
      return new Reply(inPlace(feed, place), { headers: HEADERS });
    } catch (error) {
      place[Symbol.dispose]();
      throw error;
    }
  },
});

/** Gives the place back at the feed's end. One that is never read is ended by its signal. */
async function* inPlace(feed: AsyncIterable<Uint8Array>, place: FeedPlace): AsyncGenerator<Uint8Array> {
  using _place = place;
  yield* feed;
}
