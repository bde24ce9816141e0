/** Bodies on their way in or out. They are cut when their credential ends or when the grace of a shutdown is over. */
import { ServiceError } from "../service-error.ts";

export interface Transfer {
  /** The API key or the web session, whose transfers are checked together; null: nothing to check. */
  readonly credentialId: string | null;
  readonly recheck: () => Promise<void>;
  /** What else may end this one transfer, a membership for instance: rejects with the reason. */
  readonly recheckWatches?: () => Promise<void>;
  readonly abort: (reason: ServiceError) => void;
}

/** Owns the timer that checks running transfers. */
export class Transfers implements Disposable {
  readonly #running = new Set<Transfer>();
  readonly #interval: number;
  #timer: NodeJS.Timeout | null = null;

  /** `interval` in milliseconds; the transfers of a revoked key or an ended session end within it (decisions §4: 5 s). */
  constructor(interval: number) {
    this.#interval = interval;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Follows the transfer until the returned function is called. */
  add(transfer: Transfer): () => void {
    this.#running.add(transfer);
    this.#timer ??= setInterval(() => void this.#check(), this.#interval).unref();
    return () => {
      this.#running.delete(transfer);
      if (this.#running.size === 0) this[Symbol.dispose]();
    };
  }

  /** Ends all of them, for a shutdown whose grace is over. */
  abortAll(): void {
    for (const transfer of this.#running) transfer.abort(new ServiceError("unavailable", "The server is stopping"));
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #check(): Promise<void> {
    const verdicts = new Map<string, Promise<ServiceError | null>>();
    const checks = [...this.#running].map(async (transfer) => {
      const refusal = (await this.#judgeCredential(transfer, verdicts)) ?? (await judgeRest(transfer));
      if (refusal !== null) transfer.abort(refusal);
    });
    await Promise.all(checks);
  }

  #judgeCredential(
    transfer: Transfer,
    verdicts: Map<string, Promise<ServiceError | null>>,
  ): Promise<ServiceError | null> {
    if (transfer.credentialId === null) return Promise.resolve(null);
    const verdict = verdicts.get(transfer.credentialId) ?? judge(transfer);
    verdicts.set(transfer.credentialId, verdict);
    return verdict;
  }
}

/** Every refusal ends the transfer, also of a chain that does not answer: what it allowed has grown too old by then. */
async function judgeRest({ recheckWatches }: Transfer): Promise<ServiceError | null> {
  try {
    await recheckWatches?.();
    return null;
  } catch (error) {
    return error instanceof ServiceError ? error : null;
  }
}

/** Only a refused credential ends a transfer; a database that does not answer is asked again next time. */
async function judge(transfer: Transfer): Promise<ServiceError | null> {
  try {
    await transfer.recheck();
    return null;
  } catch (error) {
    return error instanceof ServiceError && error.code === "invalid_credential" ? error : null;
  }
}
