/** Budgets: how much a key may store, write and ask, within its rights (decision 0057). A day is any 24 hours. */
import * as z from "zod/mini";
import { timestamp } from "./values.ts";

const amount = z.int().check(z.gte(0));
const perMinute = z.int().check(z.gte(1), z.lte(1_000_000));

const limits = {
  /** Bytes that lie in storage now and that the key stored: trash and kept versions included. */
  storedBytes: z.optional(amount),
  /** Bytes of files and versions that were written within 24 hours, also of those that have been deleted since. */
  bytesPerDay: z.optional(amount),
  /** Files and versions that were written within 24 hours, restored versions included. */
  filesPerDay: z.optional(amount),
  requestsPerMinute: z.optional(perMinute),
};

/** What a caller asks for. None at all is the same as no budgets. */
export const wantedBudgets = z.strictObject(limits);

/** null: the key has no budgets. */
export const budgets = z.nullable(z.object(limits));

const use = z.optional(
  z.object({
    /** Unfinished uploads included. */
    used: z.int(),
    left: z.int(),
    /** When more is left than now; null: no time changes it. */
    renewsAt: z.nullable(timestamp),
  }),
);

/** For each budget that the key has; null: it has none. */
export const budgetUse = z.nullable(
  z.object({ storedBytes: use, bytesPerDay: use, filesPerDay: use, requestsPerMinute: use }),
);

export type BudgetName = keyof typeof limits;
export interface Budgets extends z.infer<typeof wantedBudgets> {}
export type BudgetUse = z.infer<typeof budgetUse>;
