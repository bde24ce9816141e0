/** Whether each upload of a job was delivered, and nothing that could not be verified. */
import type { WebhookEvent } from "@coffer/contract";
import type { Deliveries } from "./deliveries.ts";

export interface ArrivalReport {
  /** Uploads that need a delivery. */
  readonly expected: number;
  /** Uploads with a verified `file.uploaded`. */
  readonly arrived: number;
  /** Deliveries in all, of every kind, and how many of them were not what they should be. */
  readonly deliveries: number;
  readonly failed: number;
  readonly ok: boolean;
}

/** Nothing more is expected when none came for this long: longer than the wait before a second attempt. Milliseconds. */
const QUIET = 10_000;

/** Listens from its beginning: the sink itself keeps the last deliveries only. */
export class Arrivals implements Disposable {
  readonly #uploads = new Set<string>();
  readonly #unsubscribe: () => void;
  #deliveries = 0;
  #failed = 0;
  #onArrival: () => void = () => undefined;

  constructor(deliveries: Deliveries) {
    this.#unsubscribe = deliveries.listen(({ problem }, event) => {
      this.#deliveries += 1;
      if (problem !== null) this.#failed += 1;
      if (event !== null) this.#record(event);
      this.#onArrival();
    });
  }

  /** Waits until the uploads of all these files have arrived, or nothing comes any more. Rejects when the signal aborts. */
  async of(fileIds: readonly string[], signal: AbortSignal): Promise<ArrivalReport> {
    const expected = fileIds.length;
    const count = (): number => fileIds.filter((id) => this.#uploads.has(id)).length;
    while (count() < expected && (await this.#next(signal))) signal.throwIfAborted();
    signal.throwIfAborted();
    const arrived = count();
    const [deliveries, failed] = [this.#deliveries, this.#failed];
    return { expected, arrived, deliveries, failed, ok: arrived === expected && failed === 0 };
  }

  /** Whether another one came in time. */
  #next(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (came: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        this.#onArrival = () => undefined;
        resolve(came);
      };
      const stop = (): void => finish(false);
      const timer = setTimeout(stop, QUIET);
      signal.addEventListener("abort", stop);
      this.#onArrival = () => finish(true);
      if (signal.aborted) stop();
    });
  }

  #record(event: WebhookEvent): void {
    if (event.type !== "file.uploaded") return;
    this.#uploads.add(event.data.object.id);
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }
}
