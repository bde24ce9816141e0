/** Budgets: how much a key may store, write and ask, within its rights (decision 0057). A day is any 24 hours. */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { timestamp } from "./values.ts";

const amount = z.int().check(z.gte(0));
const perMinute = z.int().check(z.gte(1), z.lte(1_000_000));

const limits = {
  /** Bytes that the key may have in storage at a time, trash and versions included. Default: no budget. */
  storedBytes: z.optional(amount),
  /** Bytes of files and versions that it may write within any 24 hours. Default: no budget. */
  bytesPerDay: z.optional(amount),
  /** Files and versions that it may write within any 24 hours, restored versions included. Default: no budget. */
  filesPerDay: z.optional(amount),
  /** Requests a minute: 1 to 1,000,000. Each process of the service counts for itself. Default: no budget. */
  requestsPerMinute: z.optional(perMinute),
};

/** How much a key may store, write and ask. */
export interface Budgets extends Parsed<typeof requestedSchema> {}

/** What is used and left of one budget. */
export interface BudgetUse extends Parsed<typeof useSchema> {}

/** What a key has used of its budgets. */
export interface BudgetUses extends Parsed<typeof usesSchema> {}

const requestedSchema = strictObject(limits);

/** What a caller asks for. None at all is the same as no budgets. */
export const requestedBudgets: Named<Budgets> = requestedSchema;

/** null: the key has no budgets. */
export const budgets: Named<Budgets | null> = z.nullable(object(limits));

const useSchema = object({
  /** How much is used, unfinished uploads included: bytes, files or requests. */
  used: z.int(),
  /** How much is left now: bytes, files or requests. */
  left: z.int(),
  /** When more is left, if nothing is used meanwhile: RFC 3339 in UTC. null: time changes nothing. */
  renewsAt: z.nullable(timestamp),
});
const use: Named<BudgetUse> = useSchema;

const usesSchema = object({
  /** Use of the budget of stored bytes. */
  storedBytes: z.optional(use),
  /** Use of the budget of written bytes. Written bytes count for 24 hours, and at most 15 minutes more. */
  bytesPerDay: z.optional(use),
  /** Use of the budget of written files and versions. Each counts for 24 hours, and at most 15 minutes more. */
  filesPerDay: z.optional(use),
  /** Use of the budget of requests, in the process that answers. */
  requestsPerMinute: z.optional(use),
});

/** For each budget that the key has; null: it has none. */
export const budgetUse: Named<BudgetUses | null> = z.nullable(usesSchema);

export type BudgetName = keyof typeof limits;
