import type { BudgetName } from "@coffer/contract";
import { DEFAULT_RETRY } from "./retry.ts";
import { SdkError, type AnswerFacts, type BudgetErrorCode, type BudgetFacts } from "./errors.ts";

/**
 * The credential's key has used up one of its budgets. `budget_exceeded` passes with time; `budget_storage` when what
 * the key stored is deleted for good.
 */
export class BudgetError extends SdkError implements BudgetFacts {
  override readonly name = "BudgetError";
  declare readonly code: BudgetErrorCode;
  readonly budget: BudgetName | null;
  readonly retryAt: Date | null;

  constructor(
    code: BudgetErrorCode,
    message: string,
    facts: AnswerFacts & { readonly nextStep: string; readonly budget: string | null },
    nowEpochMs: number,
  ) {
    const { retryAfterMs } = facts;
    // One of a day may renew tomorrow: the same call does not succeed later in any time that a caller waits.
    const isSoon = retryAfterMs !== null && retryAfterMs <= DEFAULT_RETRY.maxRetryAfterMs;
    super(message, { ...facts, code, retryable: code === "budget_exceeded" && isSoon });
    this.budget = isBudgetName(facts.budget) ? facts.budget : null;
    this.retryAt = retryAfterMs === null ? null : new Date(nowEpochMs + retryAfterMs);
  }

  protected override details(): Record<string, unknown> {
    return { ...super.details(), budget: this.budget, retryAt: this.retryAt };
  }
}

const NAMES: Readonly<Record<BudgetName, true>> = {
  storedBytes: true,
  bytesPerDay: true,
  filesPerDay: true,
  requestsPerMinute: true,
};

function isBudgetName(text: string | null): text is BudgetName {
  return text !== null && Object.hasOwn(NAMES, text);
}
