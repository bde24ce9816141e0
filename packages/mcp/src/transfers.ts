/** Transfers that take longer than a host waits: the call returns, the transfer goes on, and transfer_get shows it. */
import { randomBytes } from "node:crypto";
import { TaskFailure, toFailure } from "@coffer/tasks";
import type { Outcome } from "./result.ts";

/** Hosts give a call 60 s, some 30. */
export const ANSWER_AFTER_MS = 20_000;
/** Transfers that a process remembers, those that ended included. */
const MOST_KEPT = 100;

/** The page of a report that begins at this row. */
export type Page = (start: number) => Outcome;

interface Transfer {
  done: number;
  total: number;
  outcome: Promise<Outcome>;
  isSettled: boolean;
  readonly stop: AbortController;
}

/** How far the work of a transfer is, in bytes, and what ends it. */
export interface Watch {
  readonly progress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export class Transfers {
  readonly #answerAfterMs: number;
  /** Transfers whose calls returned before they ended, the oldest first. */
  readonly #transfers = new Map<string, Transfer>();
  /** Reports of several pages, the oldest first. */
  readonly #reports = new Map<string, Page>();

  constructor(answerAfterMs = ANSWER_AFTER_MS) {
    this.#answerAfterMs = answerAfterMs;
  }

  /** Whether a transfer goes on whose call has returned. */
  isBusy(): boolean {
    return [...this.#transfers.values()].some(({ isSettled }) => !isSettled);
  }

  /** The outcome of `work`; after 20 s one that names the transfer instead. */
  async run(work: (watch: Watch) => Promise<Outcome>): Promise<Outcome> {
    const stop = new AbortController();
    const transfer: Transfer = {
      done: 0,
      total: 0,
      isSettled: false,
      outcome: Promise.resolve({ summary: "", facts: {} }),
      stop,
    };
    const progress: Watch["progress"] = (done, total) => {
      Object.assign(transfer, { done, total });
    };
    transfer.outcome = work({ progress, signal: stop.signal }).finally(() => {
      transfer.isSettled = true;
    });
    const late = Symbol();
    const timer = new AbortController();
    const first = await Promise.race([transfer.outcome, waitFor(this.#answerAfterMs, timer.signal).then(() => late)]);
    timer.abort();
    if (typeof first !== "symbol") return first;
    // Nobody may ask for it: its failure is no failure of this process.
    transfer.outcome.catch(() => undefined);
    const transferId = newId();
    this.#transfers.set(transferId, transfer);
    this.#forgetOldest();
    return underWay(transferId, transfer);
  }

  /** The first page of a report. If there are more, `transferId` and `nextCursor` lead to them. */
  report(page: Page): Outcome {
    const first = page(0);
    if (first.facts["nextCursor"] === undefined) return first;
    const transferId = newId();
    this.#reports.set(transferId, page);
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > MOST_KEPT && oldest !== undefined) this.#reports.delete(oldest);
    return { ...first, facts: { ...first.facts, transferId } };
  }

  /** The outcome, or how far it is, or a page of a report. Throws what the transfer threw; TaskFailure `transfer_unknown`. */
  async get(transferId: string, cursor?: string): Promise<Outcome> {
    const report = this.#reports.get(transferId);
    if (report !== undefined) return report(startIn(cursor));
    const transfer = this.#transfers.get(transferId);
    if (transfer === undefined) throw new TaskFailure("transfer_unknown");
    return transfer.isSettled ? await transfer.outcome : underWay(transferId, transfer);
  }

  /**
   * Ends it, and resolves when it has ended: with its outcome if that was faster.
   * @throws what the transfer threw otherwise; TaskFailure `transfer_unknown`.
   */
  async cancel(transferId: string): Promise<Outcome> {
    const transfer = this.#transfers.get(transferId);
    if (transfer === undefined) throw new TaskFailure("transfer_unknown");
    if (transfer.isSettled) return await transfer.outcome;
    transfer.stop.abort();
    try {
      return await transfer.outcome;
    } catch (thrown) {
      if (toFailure(thrown).code !== "cancelled") throw thrown;
      return {
        summary: "Cancelled. What was moved before stays.",
        facts: {
          transferId,
          bytes: transfer.done,
          totalBytes: transfer.total,
          nextStep: "The same call moves the rest.",
        },
      };
    }
  }

  /** One that goes on is kept: it may be asked for. */
  #forgetOldest(): void {
    for (const [id, { isSettled }] of this.#transfers)
      if (this.#transfers.size > MOST_KEPT && isSettled) this.#transfers.delete(id);
  }
}

function newId(): string {
  return randomBytes(9).toString("base64url");
}

function startIn(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw new TaskFailure("invalid_arguments", { message: "cursor is none of this transfer" });
}

function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function underWay(transferId: string, { done, total }: Transfer): Outcome {
  return {
    summary: "The transfer goes on.",
    facts: {
      transferId,
      bytes: done,
      totalBytes: total,
      nextStep:
        "Call transfer_get with this transferId in some seconds. Do not begin it again. transfer_cancel ends it.",
    },
  };
}
