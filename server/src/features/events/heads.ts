/**
 * The heads of the followed accounts. One poll of the database serves all feeds of this process, and one follows at once when an account
 * changes here. Other processes' writes show with the news of the database, and at the latest with the next poll.
 */
import type { Clock } from "../../ports/clock.ts";
import type { Database, Queries } from "../../ports/database.ts";
import { pollPause, type News, NO_NEWS } from "../../ports/news.ts";
import { wrapDatabase } from "../../ports/wrapped-database.ts";
import { findHeads } from "./store.ts";

export interface HeadsParts {
  readonly database: Queries & Partial<Pick<Database, "news">>;
  readonly clock: Pick<Clock, "elapsed">;
  /** Resolves after so many milliseconds, or as soon as the signal aborts; never rejects. Tests bring their own. */
  readonly pause?: Pause;
}

export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface Awaited {
  readonly accountId: string;
  /** The number that the account's head is to be beyond. */
  readonly after: number;
  /** Elapsed milliseconds: no longer than until then. */
  readonly until: number;
}

interface Waiter extends Awaited {
  end(error?: unknown): void;
}

export class Heads {
  readonly #parts: HeadsParts;
  readonly #waiting = new Set<Waiter>();
  #isPolling = false;
  /** Elapsed milliseconds: the next poll comes no later. */
  #pollBy = -Infinity;
  /** Ends the pause between two polls. */
  #pausing = new AbortController();

  constructor(parts: HeadsParts) {
    this.#parts = parts;
    this.#news.onChange((accountIds) => this.wake(accountIds));
  }

  get #news(): News {
    return this.#parts.database.news ?? NO_NEWS;
  }

  /** Resolves once the head is beyond, the time is over, or the signal aborts. Rejects when the database does. */
  beyond(awaited: Awaited, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const stop = (): void => waiter.end();
    const waiter: Waiter = {
      ...awaited,
      end: (error) => {
        this.#waiting.delete(waiter);
        signal.removeEventListener("abort", stop);
        if (this.#waiting.size === 0) this.#pausing.abort();
        if (error === undefined) resolve(undefined);
        else reject(error);
      },
    };
    this.#waiting.add(waiter);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    else if (!this.#isPolling) void this.#poll();
    else if (awaited.until < this.#pollBy) this.#pausing.abort();
    return promise;
  }

  /** These accounts may have a new head; null: any may. */
  wake(accountIds: ReadonlySet<string> | null): void {
    for (const { accountId } of this.#waiting)
      if (accountIds === null || accountIds.has(accountId)) return this.#pausing.abort();
  }

  async #poll(): Promise<void> {
    const { database, clock, pause = pauseFor } = this.#parts;
    this.#isPolling = true;
    try {
      while (this.#waiting.size > 0) {
        const began = clock.elapsed();
        // Polls may be rare, and still nobody waits beyond the own time.
        const soonest = Math.min(...[...this.#waiting].map(({ until }) => until));
        this.#pollBy = Math.max(began, Math.min(began + pollPause(this.#news), soonest));
        await pause(this.#pollBy - began, this.#pausing.signal);
        // What wakes from here on may be too late for this poll, and is in time for the next.
        this.#pausing = new AbortController();
        if (this.#waiting.size === 0) break;
        const heads = await findHeads(database, [...new Set([...this.#waiting].map(({ accountId }) => accountId))]);
        const now = clock.elapsed();
        for (const waiter of this.#waiting)
          if ((heads.get(waiter.accountId) ?? 0) > waiter.after || now >= waiter.until) waiter.end();
      }
    } catch (error) {
      for (const waiter of this.#waiting) waiter.end(error);
    } finally {
      this.#isPolling = false;
      this.#pausing = new AbortController();
    }
  }
}

/** The database, for code that changes accounts that others follow here. */
export function waking(database: Database, heads: Pick<Heads, "wake">): Database {
  return wrapDatabase(database, {
    async act(accountIds, work, options) {
      const result = await database.act(accountIds, work, options);
      heads.wake(new Set(accountIds));
      return result;
    },
  });
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
