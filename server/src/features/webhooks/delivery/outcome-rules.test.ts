import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WebhookFailure, WebhookOutcome } from "../../../ports/webhook-sender.ts";
import {
  DISABLED_AFTER,
  endAttempt,
  endInterrupted,
  type EndpointState,
  followAttempt,
  followBlameless,
  LONGEST_WAIT,
  waitBefore,
} from "./outcome-rules.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 20);
const moment = { now: NOW, chance: () => 0.5 };

function outcome(failure: WebhookFailure | null, more: Partial<WebhookOutcome> = {}): WebhookOutcome {
  const httpStatus = failure === null ? 200 : Number(/^HTTP (\d+)$/.exec(failure)?.[1] ?? 0);
  return { failure, httpStatus, retryAfter: null, responseBody: "", duration: 1, ...more };
}

const well: EndpointState = {
  active: 1,
  failure_count: 0,
  failing_since: null,
  last_delivery_at: null,
  last_delivery_status: "none",
};
const failed = endAttempt({ attempts: 10, max_attempts: 10 }, outcome("timeout"), moment);

describe("the schedule", () => {
  it("is 0, 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h [D6-schedule]", () => {
    const waits = Array.from({ length: 10 }, (_, at) => waitBefore(at + 1, 0.5));
    expect(waits).toEqual(
      [0, 5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, DAY].map(Math.round),
    );
  });

  it("spreads each wait over a fifth to either side, and no wait is beyond the longest [D6-schedule]", () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), chance, (number, drawn) => {
        const middle = waitBefore(number, 0.5);
        expect(Math.abs(waitBefore(number, drawn) - middle)).toBeLessThanOrEqual(middle * 0.2 + 1);
        expect(waitBefore(number, drawn)).toBeLessThanOrEqual(LONGEST_WAIT);
      }),
    );
    expect(waitBefore(2, 0)).toBe(4_000);
    expect(waitBefore(2, 1 - 2 ** -32)).toBe(6_000);
  });
});

describe("an attempt", () => {
  it("with a 2xx ends its delivery [D6-delivery-status]", () => {
    const end = endAttempt({ attempts: 3, max_attempts: 10 }, outcome(null, { httpStatus: 204 }), moment);
    const done = { status: "success", http_status: 204, last_error: "", next_attempt_at: null, completed_at: NOW };
    expect(end).toEqual(done);
  });

  it.each<WebhookFailure>(["timeout", "dns", "tls", "connection reset", "blocked address", "HTTP 302", "HTTP 500"])(
    "that ends with %s leaves it pending, and the tenth leaves it failed [D6-last-error] [D6-http-status]",
    (failure) => {
      const again = endAttempt({ attempts: 9, max_attempts: 10 }, outcome(failure), moment);
      expect(again).toMatchObject({ status: "pending", last_error: failure, next_attempt_at: NOW + DAY });
      expect(again.completed_at).toBe(null);
      const over = endAttempt({ attempts: 10, max_attempts: 10 }, outcome(failure), moment);
      expect(over).toMatchObject({ status: "failed", next_attempt_at: null, completed_at: NOW });
    },
  );

  it("that was asked for patience waits longer, never shorter than the schedule, a day at most", () => {
    const waitFor = (attempts: number, retryAfter: number): number =>
      (endAttempt({ attempts, max_attempts: 10 }, outcome("HTTP 429", { retryAfter }), moment).next_attempt_at ?? 0) -
      NOW;
    expect(waitFor(1, 60_000)).toBe(60_000);
    expect(waitFor(1, 1_000)).toBe(5_000);
    expect(waitFor(1, 90 * DAY)).toBe(DAY);
    expect(waitFor(2, -5)).toBe(5 * MINUTE);
  });

  it("that gets a 410 ends its delivery and turns its endpoint off [D6-disable]", () => {
    const end = endAttempt({ attempts: 1, max_attempts: 10 }, outcome("HTTP 410"), moment);
    expect(end).toMatchObject({ status: "failed", next_attempt_at: null });
    expect(followAttempt(well, end, NOW)).toMatchObject({ disabled: "gone", state: { active: 0, failure_count: 1 } });
    expect(followAttempt({ ...well, active: 0 }, end, NOW).disabled).toBe(null);
  });

  it("that nobody finished is due at once, and was the last one when it was the tenth", () => {
    expect(endInterrupted({ attempts: 9, max_attempts: 10 }, NOW)).toMatchObject({
      status: "pending",
      next_attempt_at: NOW,
      last_error: "interrupted",
      http_status: 0,
    });
    expect(endInterrupted({ attempts: 10, max_attempts: 10 }, NOW)).toMatchObject({
      status: "failed",
      next_attempt_at: null,
      completed_at: NOW,
    });
  });
});

describe("an endpoint", () => {
  it("counts attempts that failed in a row, of any delivery, and begins anew with a success [D6-failure-count]", () => {
    const pending = endAttempt({ attempts: 1, max_attempts: 10 }, outcome("HTTP 500"), moment);
    const once = followAttempt(well, pending, NOW).state;
    expect(once).toMatchObject({ failure_count: 1, last_delivery_status: "pending", failing_since: NOW });
    const twice = followAttempt(followAttempt(once, failed, NOW + 1).state, failed, NOW + 2).state;
    expect(twice).toMatchObject({ failure_count: 3, last_delivery_status: "failed", failing_since: NOW });
    expect(followBlameless(twice, failed, NOW + 3)).toMatchObject({ failure_count: 4, failing_since: NOW, active: 1 });
    const success = endAttempt({ attempts: 1, max_attempts: 10 }, outcome(null), moment);
    expect(followAttempt(twice, success, NOW + 3).state).toMatchObject({
      failure_count: 0,
      failing_since: null,
      last_delivery_status: "success",
      last_delivery_at: NOW + 3,
    });
  });

  it.each([
    [-1, null],
    [0, "failing"],
    [1, "failing"],
  ])("is turned off %i ms after five days of nothing but failures: %s", (offset, expected) => {
    const failing = { ...well, failing_since: NOW };
    expect(followAttempt(failing, failed, NOW + DISABLED_AFTER + offset).disabled).toBe(expected);
  });

  it("is not turned off by its first failure, however long nothing was sent before", () => {
    expect(followAttempt(well, failed, NOW + 100 * DAY).disabled).toBe(null);
  });

  it("that has been failing since a moment ahead of a clock that was set back fails from now on", () => {
    const ahead = { ...well, failing_since: NOW + 100 * DAY };
    const { state, disabled } = followAttempt(ahead, failed, NOW);
    expect(disabled).toBe(null);
    expect(state.failing_since).toBe(NOW);
  });
});
