/**
 * Who goes on next: at every statement and before every commit a database that is {@link scheduled} gives way, and of those
 * that wait a seed chooses one. It knows no dialect and no driver: what a driver lets happen side by side happens here in an order
 * that the seed decides.
 */
import type { Database, Queries } from "@coffer/server/ports/database";

/** So long, in turns of the event loop, is waited for one who is elsewhere: at its blobs, or held up by another's lock. */
const PATIENCE = 12;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function drawsOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Schedule {
  #draw: (() => number) | null = null;
  /** Of the acts, those that are not over. */
  #running = 0;
  #isWatched = false;
  #arrivals = 0;
  readonly #waiting: (() => void)[] = [];

  /** Runs the acts side by side, in the order of the seed. Resolves with what became of them, in the order of `acts`. */
  async run<Result>(seed: number, acts: readonly (() => Promise<Result>)[]): Promise<PromiseSettledResult<Result>[]> {
    this.#draw = drawsOf(seed);
    this.#running = acts.length;
    try {
      return await Promise.allSettled(
        acts.map(async (act) => {
          try {
            await this.turn();
            return await act();
          } finally {
            this.#running -= 1;
          }
        }),
      );
    } finally {
      this.#draw = null;
      for (const goOn of this.#waiting.splice(0)) goOn();
    }
  }

  /** Resolves when it is the caller's turn; at once while nothing is run. */
  turn(): Promise<void> {
    if (this.#draw === null) return Promise.resolve();
    this.#arrivals += 1;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting.push(() => resolve(undefined));
    if (!this.#isWatched) void this.#watch();
    return promise;
  }

  /** Of what the running seed decides: true about so often. */
  chance(share: number): boolean {
    return this.#draw !== null && this.#draw() < share;
  }

  /** Lets one go on after the other, each when all are here or nobody has come for a while. */
  async #watch(): Promise<void> {
    this.#isWatched = true;
    while (this.#waiting.length > 0) {
      for (let quiet = 0, seen = -1; quiet < PATIENCE && this.#waiting.length < this.#running; quiet += 1) {
        if (seen !== this.#arrivals) quiet = 0;
        seen = this.#arrivals;
        await turnOfTheLoop();
      }
      const chosen = Math.floor((this.#draw ?? Math.random)() * this.#waiting.length);
      this.#waiting.splice(chosen, 1)[0]?.();
      await turnOfTheLoop();
    }
    this.#isWatched = false;
  }
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The database, whose every statement and commit waits for its turn. */
export function scheduled(database: Database, schedule: Schedule): Database {
  const inTurn = (queries: Queries): Queries => ({
    build: queries.build,
    all: (query) => schedule.turn().then(() => queries.all(query)),
    first: (query) => schedule.turn().then(() => queries.first(query)),
    run: (query) => schedule.turn().then(() => queries.run(query)),
  });
  const work =
    <Given extends readonly unknown[], Result>(given: (queries: Queries, ...more: Given) => Promise<Result>) =>
    async (queries: Queries, ...more: Given): Promise<Result> => {
      const result = await given(inTurn(queries), ...more);
      await schedule.turn();
      return result;
    };
  return {
    ...inTurn(database),
    capabilities: database.capabilities,
    news: database.news,
    schemaGuard: database.schemaGuard,
    load: database.load,
    commits: database.commits,
    act: (accountIds, given, options) => schedule.turn().then(() => database.act(accountIds, work(given), options)),
    transaction: (given, options) => schedule.turn().then(() => database.transaction(work(given), options)),
    snapshot: (given) => schedule.turn().then(() => database.snapshot((queries) => given(inTurn(queries)))),
    migration: (given) => database.migration(given),
    ping: () => database.ping(),
    diskRoom: () => database.diskRoom(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
