/** Transfers that take longer than a host waits: the call answers, the transfer goes on, and transfer_get shows it. */
import { randomBytes } from "node:crypto";
import { TaskFailure } from "@coffer/tasks";
import type { Outcome } from "./result.ts";

/** Hosts give a call 60 s, some 30. */
export const ANSWER_AFTER_MS = 20_000;
/** Transfers that a process remembers, those that ended included. */
const MOST_KEPT = 100;

/** The page of a report that begins at this row. */
export type Page = (start: number) => Outcome;

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
  /** The first page of a report. If there are more, `transferId` and `nextCursor` lead to them. */
  report(page: Page): Outcome;
  /** The outcome, or how far it is, or a page of a report. Throws what the transfer threw; TaskFailure `transfer_unknown`. */
  get(transferId: string, cursor?: string): Promise<Outcome>;
}

export function createTransfers(answerAfterMs = ANSWER_AFTER_MS): Transfers {
  const kept = new Map<string, Kept>();
  const reports = new Map<string, Page>();
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
      const transferId = newId();
      kept.set(transferId, transfer);
      forgetOldest(kept);
      return underWay(transferId, transfer);
    },
    report: (page) => {
      const first = page(0);
      if (first.facts["nextCursor"] === undefined) return first;
      const transferId = newId();
      reports.set(transferId, page);
      const [oldest] = reports.keys();
      if (reports.size > MOST_KEPT && oldest !== undefined) reports.delete(oldest);
      return { ...first, facts: { ...first.facts, transferId } };
    },
    get: async (transferId, cursor) => {
      const report = reports.get(transferId);
      if (report !== undefined) return report(startIn(cursor));
      const transfer = kept.get(transferId);
      if (transfer === undefined) throw new TaskFailure("transfer_unknown");
      return transfer.isSettled ? await transfer.outcome : underWay(transferId, transfer);
    },
  };
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
