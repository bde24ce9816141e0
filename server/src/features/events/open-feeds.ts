/** The feeds under way: how many an account has, and an end for all of them when the server stops. */
import { ServiceError } from "../../service-error.ts";

/** Feeds of one account at the same time, in this process: each holds a connection, and reads new events for itself (CWE-770). */
export const MAX_FEEDS = 20;
/** Seconds. */
const RETRY_AFTER = 5;

/** One feed's place. Disposing of it gives the place free and is safe to repeat. */
export interface FeedPlace extends Disposable {
  /** Aborts when the reader is gone or the server stops. */
  readonly signal: AbortSignal;
}

export class OpenFeeds implements Disposable {
  readonly #places = new Map<string, Set<AbortController>>();
  #stopping = false;

  /** How many the account has. */
  count(accountId: string): number {
    return this.#places.get(accountId)?.size ?? 0;
  }

  /**
   * Takes a place until `reader` aborts or it is given back.
   * @throws ServiceError `rate_limited` when the account has {@link MAX_FEEDS}; `unavailable` when the server stops.
   */
  open(accountId: string, reader: AbortSignal): FeedPlace {
    if (this.#stopping) throw new ServiceError("unavailable", "The server is stopping");
    const places = this.#places.get(accountId) ?? new Set();
    if (places.size >= MAX_FEEDS) {
      throw new ServiceError(
        "rate_limited",
        `At most ${MAX_FEEDS} event feeds of an account are open at once: end one`,
        {
          headers: { "Retry-After": String(RETRY_AFTER) },
        },
      );
    }
    const place = new AbortController();
    const end = (): void => {
      places.delete(place);
      if (places.size === 0 && this.#places.get(accountId) === places) this.#places.delete(accountId);
      reader.removeEventListener("abort", end);
      place.abort();
    };
    this.#places.set(accountId, places.add(place));
    reader.addEventListener("abort", end);
    if (reader.aborted) end();
    return { signal: place.signal, [Symbol.dispose]: end };
  }

  /** Ends all of them in good order: their readers connect again, here or elsewhere. */
  [Symbol.dispose](): void {
    this.#stopping = true;
    for (const places of this.#places.values()) for (const place of places) place.abort();
  }
}
