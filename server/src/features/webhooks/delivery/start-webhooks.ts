/** Keeps the engine turning: a look four times a second, and an exchange whenever attempts are over. */
import { Engine, type EngineDeps } from "./engine.ts";

/**
 * Between two looks, in milliseconds. The engine looks, and the writer of a change does not call it. So no write pays
 * for it, and it finds other processes' changes in the same way.
 */
const PAUSE = 250;
/** After a failed turn: a database that is full or away is not asked, nor complained about, four times a second. */
const REST = 5_000;
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
  engine.onFinished = () => bell.ring();
  const running = turnUntil(stopping.signal, { engine, bell, deps });
  let stopped: Promise<void> | null = null;
  const stop = async (patience: number): Promise<void> => {
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
  readonly deps: EngineDeps;
}

async function turnUntil(signal: AbortSignal, turning: Turning): Promise<void> {
  const { engine, bell, deps } = turning;
  let lookAt = -Infinity;
  while (!signal.aborted) {
    try {
      if (deps.clock.elapsed() >= lookAt) lookAt = (await engine.look()) ? -Infinity : deps.clock.elapsed() + PAUSE;
      await engine.exchange();
    } catch (error) {
      deps.log.error({ job: "webhooks", err: error }, "webhooks have to wait");
      await bell.wait(REST, () => signal.aborted);
      continue;
    }
    if (lookAt === -Infinity) {
      // Requests come in between.
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const idle = (): boolean => engine.unrecorded > 0 || signal.aborted;
    await bell.wait(Math.max(1, lookAt - deps.clock.elapsed()), idle);
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
