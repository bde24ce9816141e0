import type { Clock } from "./clock.ts";
import { AbortError, type SdkError, TimeoutError } from "./errors.ts";

/**
 * Runs `work` under a watch of its own. It rejects as soon as the watch ends, also when the work ignores the watch's
 * signal. Then no timer and no listener on the caller's signal is left, unless the work has kept the watch.
 */
export async function underWatch<Value>(
  clock: Clock,
  caller: AbortSignal | undefined,
  work: (watch: Watch) => Promise<Value>,
): Promise<Value> {
  const watch = new Watch(clock, caller);
  try {
    if (watch.failure !== null) throw watch.failure;
    return await watch.race(work(watch));
  } catch (error) {
    throw watch.failure ?? error;
  } finally {
    if (!watch.isKept) watch.release();
  }
}

/**
 * The life of one attempt: its signal aborts when the caller aborts, when a wall limit passes, or when no byte moved
 * for too long.
 */
export class Watch {
  readonly #clock: Clock;
  /** The caller's signal as long as this listens to it. */
  #caller: AbortSignal | null = null;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => {
    this.end(new AbortError(this.#caller?.reason));
  };
  #cancelLimit: (() => void) | null = null;
  #cancelStall: (() => void) | null = null;
  #movedAt = 0;
  #failure: SdkError | null = null;
  #isKept = false;

  constructor(clock: Clock, caller: AbortSignal | undefined) {
    this.#clock = clock;
    if (caller?.aborted === true) this.end(new AbortError(caller.reason));
    else if (caller !== undefined) {
      this.#caller = caller;
      caller.addEventListener("abort", this.#onAbort);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the attempt was ended from here; null while it runs. */
  get failure(): SdkError | null {
    return this.#failure;
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  /** Ends the attempt after `ms` of wall time. A second call replaces the first; null removes the limit. */
  limit(ms: number | null, limit: "attempt" | "total" = "attempt"): void {
    this.#cancelLimit?.();
    this.#cancelLimit =
      ms === null
        ? null
        : this.#clock.after(ms, () => {
            this.end(new TimeoutError(limit, ms));
          });
  }

  /** Ends the attempt when {@link moved} was not called for `ms`; null stops watching. */
  watchStall(ms: number | null): void {
    this.#cancelStall?.();
    this.#cancelStall = null;
    if (ms === null || this.#failure !== null) return;
    this.#movedAt = this.#clock.now();
    this.#armStall(ms, ms);
  }

  /** A byte moved. */
  moved(): void {
    this.#movedAt = this.#clock.now();
  }

  /** Ends the attempt with a failure of its own, unless it has one. */
  end(failure: SdkError): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.release();
    this.#controller.abort(failure);
  }

  /** The value, or the watch's failure as soon as it ends, also when the awaited work ignores the signal. */
  async race<Value>(pending: Promise<Value>): Promise<Value> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        reject(this.#failure ?? new AbortError(signal.reason));
      };
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
      pending.then(resolve, reject).finally(() => {
        signal.removeEventListener("abort", stop);
      });
    });
  }

  /** The work goes on after its promise has resolved, as the body of an answer does. Whoever ends it releases the watch. */
  keep(): void {
    this.#isKept = true;
  }

  /** The attempt is over. */
  release(): void {
    this.limit(null);
    this.watchStall(null);
    this.#caller?.removeEventListener("abort", this.#onAbort);
    this.#caller = null;
  }

  #armStall(wait: number, ms: number): void {
    this.#cancelStall = this.#clock.after(wait, () => {
      const quiet = this.#clock.now() - this.#movedAt;
      if (quiet >= ms) this.end(new TimeoutError("stall", ms));
      else this.#armStall(ms - quiet, ms);
    });
  }
}

/** Waits `ms`, or rejects with AbortError as soon as the caller aborts. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  let cancel = (): void => undefined;
  try {
    await underWatch(
      clock,
      signal,
      () =>
        new Promise<void>((resolve) => {
          cancel = clock.after(ms, resolve);
        }),
    );
  } finally {
    cancel();
  }
}
