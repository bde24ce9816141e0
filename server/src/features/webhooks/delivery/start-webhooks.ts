/** Keeps the engine turning: polls, more often where there are no news, and flushes whenever attempts are over. */
import { pollPause } from "../../../ports/news.ts";
import { Engine, type EngineDeps } from "./engine.ts";

/** Between two turns, in milliseconds: a lane that backed off may send again. Without a poll nothing is read. */
const PAUSE = 250;
/** Between two polls that news ask for. The writer of a change waits for none. */
const LEAST_PAUSE = 50;
/** After a failed turn: a database that is full or away is not asked, nor complained about, four times a second. */
const FAILURE_PAUSE = 5_000;
/**
 * Attempts that end together are recorded together, because commits cost most. It waits as long as they keep ending
 * within LULL milliseconds of each other and others are under way. It waits for GATHER at most, so that a slow
 * receiver delays nobody.
 */
const GATHER = 10;
const LULL = 2;

/**
 * Starts sending. Never throws.
 * @returns stops: begins nothing more, waits up to `patience` milliseconds for what is under way, and leaves the rest to its
 * leases. A second call waits for the same end.
 */
export function startWebhooks(deps: EngineDeps): (patience: number) => Promise<void> {
  const engine = new Engine(deps);
  const stopping = new AbortController();
  const bell = new Bell();
  const polls = new PollSchedule(deps);
  engine.onFinished = () => bell.ring();
  const deaf = deps.database.news.onChange(() => {
    polls.hasten();
    bell.ring();
  });
  const running = turnUntil(stopping.signal, { engine, bell, polls, deps });
  let stopped: Promise<void> | null = null;
  const stop = async (patience: number): Promise<void> => {
    deaf();
    stopping.abort();
    bell.ring();
    await running;
    await engine.stop(patience).catch((error: unknown) => {
      deps.log.error({ job: "webhooks", err: error }, "the last webhook attempts are not recorded");
    });
  };
  return (patience) => (stopped ??= stop(patience));
}

interface Turning {
  readonly engine: Engine;
  readonly bell: Bell;
  readonly polls: PollSchedule;
  readonly deps: EngineDeps;
}

/** When the next poll is due, in elapsed milliseconds. */
class PollSchedule {
  readonly #deps: Pick<EngineDeps, "clock" | "database">;
  #last = -Infinity;
  #dueAt = -Infinity;

  constructor(deps: Pick<EngineDeps, "clock" | "database">) {
    this.#deps = deps;
  }

  get wait(): number {
    return this.#dueAt - this.#deps.clock.elapsed();
  }

  started(): void {
    this.#last = this.#deps.clock.elapsed();
    this.#dueAt = this.#last + pollPause(this.#deps.database.news);
  }

  /** There is more right away. */
  again(): void {
    this.#dueAt = -Infinity;
  }

  hasten(): void {
    this.#dueAt = Math.min(this.#dueAt, Math.max(this.#deps.clock.elapsed(), this.#last + LEAST_PAUSE));
  }
}

async function turnUntil(signal: AbortSignal, turning: Turning): Promise<void> {
  const { engine, bell, polls, deps } = turning;
  while (!signal.aborted) {
    try {
      if (polls.wait <= 0) {
        polls.started();
        if (await engine.poll()) polls.again();
      }
      await engine.flush();
    } catch (error) {
      deps.log.error({ job: "webhooks", err: error }, "webhooks have to wait");
      await bell.wait(FAILURE_PAUSE, () => signal.aborted);
      continue;
    }
    if (polls.wait === -Infinity) {
      // Requests come in between.
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const isDue = (): boolean => engine.unrecorded > 0 || polls.wait <= 0 || signal.aborted;
    await bell.wait(Math.min(PAUSE, Math.max(1, polls.wait)), isDue);
    await gather(signal, turning);
  }
}

async function gather(signal: AbortSignal, { engine, bell, deps }: Turning): Promise<void> {
  const until = deps.clock.elapsed() + GATHER;
  const isAll = (): boolean => engine.unrecorded >= engine.inFlight || signal.aborted;
  for (let known = 0; engine.unrecorded > known && deps.clock.elapsed() < until;) {
    known = engine.unrecorded;
    await bell.wait(LULL, isAll);
  }
}

/** Ends a wait early. */
class Bell {
  #ring: (() => void) | null = null;

  ring(): void {
    this.#ring?.();
  }

  /** Resolves as soon as `isOver` holds after a ring, or when the milliseconds are over. */
  async wait(milliseconds: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), milliseconds);
    this.#ring = () => {
      if (isOver()) resolve(undefined);
    };
    await promise;
    this.#ring = null;
    clearTimeout(timer);
  }
}
