/** A node of the same chain that hears of everything some time later than the others do, or whose clock is ahead of theirs. */
import type { Ledger, LedgerView } from "./ledger.ts";

/** Milliseconds: what was longer ago is forgotten, so no node can be later. */
export const MAX_LAG = 60_000;

/** Milliseconds that a node's clock may be ahead: more than clients believe. */
const MAX_LEAD = 60_000;

interface Past {
  /** When it ended, in milliseconds since 1970. */
  readonly until: number;
  readonly view: LedgerView;
}

/**
 * The chain as it was `lag` milliseconds ago; `lag` may be changed at any time, up to a minute. Below zero: the chain as it is, under a time
 * that has not come yet.
 */
export class LateView {
  lag: number;
  readonly #ledger: Ledger;
  readonly #clock: () => number;
  #past: Past[] = [];
  readonly stop: () => void;

  constructor(ledger: Ledger, clock: () => number, lag: number) {
    this.lag = lag;
    this.#ledger = ledger;
    this.#clock = clock;
    this.stop = ledger.beforeChange(() => this.#keep());
  }

  view(): LedgerView {
    if (!(this.lag >= -MAX_LEAD && this.lag <= MAX_LAG))
      throw new RangeError(`a node is ${MAX_LEAD} ms early to ${MAX_LAG} ms late`);
    if (this.lag === 0) return this.#ledger;
    const at = this.#clock() - this.lag;
    const past = this.#past.find(({ until }) => until > at);
    return { ...(past?.view ?? this.#ledger.freeze()), checkpointTime: () => at };
  }

  #keep(): void {
    const now = this.#clock();
    this.#past = [
      ...this.#past.filter(({ until }) => until > now - MAX_LAG),
      { until: now, view: this.#ledger.freeze() },
    ];
  }
}
