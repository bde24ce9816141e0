/** Transfers that take longer than a host waits: the call answers, the transfer goes on, and transfer_get shows it. */
import { randomBytes } from "node:crypto";
import { TaskFailure } from "@coffer/tasks";
import type { Outcome } from "./result.ts";

/** Hosts give a call 60 s, some 30. */
export const ANSWER_AFTER_MS = 20_000;
/** Transfers that a process remembers, those that ended included. */
const MOST_KEPT = 100;

interface Kept {
  done: number;
  total: number;
  outcome: Promise<Outcome>;
  isSettled: boolean;
}

export interface Transfers {
  /** Whether a transfer that was answered goes on. */
  isBusy(): boolean;
  /** The outcome of `work`; after 20 s an answer that names the transfer instead. */
  run(work: (progress: (done: number, total: number) => void) => Promise<Outcome>): Promise<Outcome>;
  /** The outcome, or how far it is. Throws what the transfer threw; TaskFailure `transfer_unknown`. */
  get(transferId: string): Promise<Outcome>;
}

export function createTransfers(answerAfterMs = ANSWER_AFTER_MS): Transfers {
  const kept = new Map<string, Kept>();
  return {
    isBusy: () => [...kept.values()].some(({ isSettled }) => !isSettled),
    run: async (work) => {
      const transfer: Kept = {
        done: 0,
        total: 0,
        isSettled: false,
        outcome: Promise.resolve({ summary: "", facts: {} }),
      };
      transfer.outcome = work((done, total) => {
        Object.assign(transfer, { done, total });
      }).finally(() => {
        transfer.isSettled = true;
      });
      const late = Symbol();
      const timer = new AbortController();
      const first = await Promise.race([transfer.outcome, waitFor(answerAfterMs, timer.signal).then(() => late)]);
      timer.abort();
      if (typeof first !== "symbol") return first;
      // Nobody may ask for it: its failure is no failure of this process.
      transfer.outcome.catch(() => undefined);
      const transferId = randomBytes(9).toString("base64url");
      kept.set(transferId, transfer);
      forgetOldest(kept);
      return underWay(transferId, transfer);
    },
    get: async (transferId) => {
      const transfer = kept.get(transferId);
      if (transfer === undefined) throw new TaskFailure("transfer_unknown");
      return transfer.isSettled ? await transfer.outcome : underWay(transferId, transfer);
    },
  };
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

function underWay(transferId: string, { done, total }: Kept): Outcome {
  return {
    summary: "The transfer goes on.",
    facts: {
      transferId,
      bytes: done,
      totalBytes: total,
      nextStep: "Call transfer_get with this transferId in some seconds. Do not begin it again.",
    },
  };
}

/** One that goes on is kept: it may be asked for. */
function forgetOldest(kept: Map<string, Kept>): void {
  for (const [id, { isSettled }] of kept) if (kept.size > MOST_KEPT && isSettled) kept.delete(id);
}
