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
import { type Bucket, policiesOf, type Policy } from "./policies.ts";
import { Rate, type Taken } from "./rate.ts";
import { type RequestBudget, RequestBudgets, type RequestsLeft } from "./request-budgets.ts";

export type { Bucket } from "./policies.ts";

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
  take(bucket: Bucket, key: string): Quota | Promise<Quota>;
  /** Takes one if there is one; never throws. For limits that must not show. */
  tryTake(bucket: Bucket, key: string): boolean | Promise<boolean>;
  /** Takes one request of each budget of the caller's key; throws `budget_exceeded` when one has none left. */
  takeRequest(budgets: readonly Budget[]): void;
  requestsLeft(budget: RequestBudget): RequestsLeft;
}

/** Keys that one bucket remembers of each kind (see {@link Rate}); about 10 MB when full. */
const CAPACITY = 50_000;

/** Counts for all processes. */
export type TakeShared = (policy: Policy, key: string) => Promise<Taken>;

export function createLimits(
  rates: RateSettings,
  clock: Pick<Clock, "elapsed">,
  {
    capacity = CAPACITY,
    takeShared = null,
  }: { readonly capacity?: number; readonly takeShared?: TakeShared | null } = {},
): Limits {
  const policies = policiesOf(rates);
  const buckets = Object.fromEntries(
    Object.values(policies).map((policy) => [policy.name, openBucket(policy, capacity)]),
  ) as Readonly<Record<Bucket, OpenBucket>>;
  const requests = new RequestBudgets(capacity);
  /** What this process refuses by itself all together refuse, too: a flood does not reach the database. */
  const taken = (bucket: Bucket, given: string): Taken | Promise<Taken> => {
    const key = shorten(given);
    const here = buckets[bucket].rate.take(key, clock.elapsed());
    return takeShared === null || !here.allowed ? here : takeShared(policies[bucket], key);
  };
  return {
    take(bucket, key) {
      const result = taken(bucket, key);
      if (!(result instanceof Promise)) return quotaOf(buckets[bucket], result);
      return result.then((shared) => quotaOf(buckets[bucket], shared));
    },
    tryTake(bucket, key) {
      const result = taken(bucket, key);
      return result instanceof Promise ? result.then(({ allowed }) => allowed) : result.allowed;
    },
    takeRequest(budgets) {
      if (budgets.length === 0) return;
      const refused = requests.take(budgets, clock.elapsed());
      if (refused !== null) throw refusedRequest(refused.limit, toSeconds(refused.wait));
    },
    requestsLeft: (budget) => requests.left(budget, clock.elapsed()),
  };
}

function quotaOf({ policy, begin }: OpenBucket, { allowed, left, wait }: Taken): Quota {
  const seconds = toSeconds(wait);
  const quota = { policy, state: `${begin}${left};t=${seconds}` };
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
