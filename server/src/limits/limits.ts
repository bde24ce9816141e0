/**
 * How often: buckets of requests that fill up again with time (decisions §2). One process counts for itself, or all together in the
 * database where the operator asks for it.
 */
import { hash } from "node:crypto";
import { HEADERS } from "@coffer/contract";
import type { RateSettings } from "../config.ts";
import type { Budget } from "../handler.ts";
import type { Clock } from "../ports/clock.ts";
import { ServiceError } from "../service-error.ts";
import { type Bucket, policiesOf, type Policy, type SharedPolicy } from "./policies.ts";
import { Rate, type Taken } from "./rate.ts";
import { countedOf, policyOf, type RequestBudget, RequestBudgets, type RequestsLeft } from "./request-budgets.ts";

export type { Bucket, SharedPolicy } from "./policies.ts";

/**
 * What an answer says of the limit that its request met, as the values of two header fields
 * (draft-ietf-httpapi-ratelimit-headers-11 §3, §4).
 */
export interface Quota {
  /** RateLimit-Policy. */
  readonly policy: string;
  /** RateLimit. */
  readonly state: string;
}

export interface Limits {
  /** Takes one; throws `rate_limited` with Retry-After, RateLimit and RateLimit-Policy when there is none left. */
  consume(bucket: Bucket, key: string): Quota | Promise<Quota>;
  /** Takes one if there is one; never throws. For limits that must not show. */
  tryTake(bucket: Bucket, key: string): boolean | Promise<boolean>;
  /** Takes one request of each budget of the caller's key; throws `budget_exceeded` when one has none left. */
  consumeRequest(budgets: readonly Budget[]): undefined | Promise<void>;
  /** For each in turn. */
  requestsLeft(budgets: readonly RequestBudget[]): Promise<readonly RequestsLeft[]>;
}

/** Keys that one bucket remembers of each kind (see {@link Rate}); about 10 MB when full. */
const CAPACITY = 50_000;

/** Counts for all processes. */
export interface SharedRates {
  /** Takes one when there is one. */
  consume(policy: SharedPolicy, key: string): Promise<Taken>;
  /** For each in turn what is left; takes nothing. */
  peek(asked: readonly (readonly [policy: SharedPolicy, key: string])[]): Promise<readonly RequestsLeft[]>;
  /** Counts what has happened, and returns what is left of each: below zero what comes next has to wait for. */
  spend(policy: SharedPolicy, counts: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>;
  /** What was taken for something that another count refused. */
  refund(policy: SharedPolicy, key: string): Promise<void>;
}

export function createLimits(
  rates: RateSettings,
  clock: Pick<Clock, "elapsed">,
  { capacity = CAPACITY, shared = null }: { readonly capacity?: number; readonly shared?: SharedRates | null } = {},
): Limits {
  const policies = policiesOf(rates);
  const buckets = Object.fromEntries(
    Object.values(policies).map((policy) => [policy.name, openBucket(policy, capacity)]),
  ) as Readonly<Record<Bucket, OpenBucket>>;
  const requests = new RequestBudgets(capacity);
  /** What this process refuses by itself all together refuse, too: a flood does not reach the database. */
  const taken = (bucket: Bucket, given: string): Taken | Promise<Taken> => {
    const key = shorten(given);
    const here = buckets[bucket].rate.consume(key, clock.elapsed());
    return shared === null || !here.allowed ? here : shared.consume(policies[bucket], key);
  };
  return {
    consume(bucket, key) {
      const result = taken(bucket, key);
      if (!(result instanceof Promise)) return quotaOf(buckets[bucket], result);
      return result.then((together) => quotaOf(buckets[bucket], together));
    },
    tryTake(bucket, key) {
      const result = taken(bucket, key);
      return result instanceof Promise ? result.then(({ allowed }) => allowed) : result.allowed;
    },
    consumeRequest(budgets) {
      if (budgets.length === 0) return undefined;
      const counted = countedOf(budgets);
      const refused = requests.consume(counted, clock.elapsed());
      if (refused !== null) throw refusedRequest(refused.limit, toSeconds(refused.wait));
      return shared === null ? undefined : takeTogether(shared, counted);
    },
    async requestsLeft(budgets) {
      if (budgets.length === 0 || shared === null)
        return budgets.map((budget) => requests.left(budget, clock.elapsed()));
      return shared.peek(budgets.map((budget) => [policyOf(budget), budget.id]));
    },
  };
}

/** One of each, or of none. */
async function takeTogether(shared: SharedRates, counted: readonly RequestBudget[]): Promise<void> {
  for (const [at, budget] of counted.entries()) {
    const { allowed, wait } = await shared.consume(policyOf(budget), budget.id);
    if (allowed) continue;
    for (const taken of counted.slice(0, at)) await shared.refund(policyOf(taken), taken.id);
    throw refusedRequest(budget.limit, toSeconds(wait));
  }
}

function quotaOf({ policy, begin: prefix }: OpenBucket, { allowed, left, wait }: Taken): Quota {
  const seconds = toSeconds(wait);
  const quota = { policy, state: `${prefix}${left};t=${seconds}` };
  if (!allowed) throw refusal(seconds, headersOf(quota));
  return quota;
}

export function headersOf({ policy, state }: Quota): Readonly<Record<string, string>> {
  return { "RateLimit-Policy": policy, RateLimit: state };
}

interface OpenBucket {
  readonly rate: Rate;
  readonly policy: string;
  /** What every RateLimit value of it begins with. */
  readonly begin: string;
}

/** A burst has a parameter of our own, as draft-11 §3.1 allows. */
function openBucket(policy: Policy, capacity: number): OpenBucket {
  const { name, quota, window, burst } = policy;
  const own = burst === quota ? "" : `;coffer-burst=${burst}`;
  return {
    rate: new Rate(policy, capacity),
    policy: `"${name}";q=${quota};w=${window}${own}`,
    begin: `"${name}";r=`,
  };
}

function refusedRequest(limit: number, seconds: number): ServiceError {
  const headers = { [HEADERS.budget]: "requestsPerMinute", "Retry-After": String(seconds) };
  const message = `Budget requestsPerMinute: 0 of ${limit} left. Wait ${seconds} s, or ask the owner for a larger budget`;
  return new ServiceError("budget_exceeded", message, { headers });
}

/** The refusal of what may come again after so many milliseconds. */
export function refusalFor(milliseconds: number): ServiceError {
  return refusal(toSeconds(milliseconds), {});
}

function refusal(seconds: number, headers: Readonly<Record<string, string>>): ServiceError {
  return new ServiceError("rate_limited", undefined, { headers: { "Retry-After": String(seconds), ...headers } });
}

/** Rounded up, so that who waits as long as it says is let in; a fraction that is only rounding does not count. */
function toSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000 - 1e-6));
}

const LONGEST_KEY = 64;

/** Keys from outside can be long, and a table of them must not be. */
function shorten(key: string): string {
  return key.length <= LONGEST_KEY ? key : hash("sha256", key, "base64url");
}
