import { describe, expect, it } from "vitest";
import { type Attempts, startAttempt, failAttempt } from "./sign-in-delay-rules.ts";

const HOUR = 3_600_000;
const FREE = 5;

/** Wrong passwords of one e-mail, whose clock goes as it is told. */
function open() {
  const state = { now: 12_345.678, known: null as Attempts | null };
  /** 0, or the milliseconds that it has to wait. */
  const begin = (): number => {
    const next = startAttempt(state.known, state.now, FREE);
    if ("wait" in next) return next.wait;
    state.known = next;
    return 0;
  };
  const guess = (): number => {
    const wait = begin();
    if (wait === 0) state.known = failAttempt(state.known, state.now, FREE);
    return wait;
  };
  const guesses = (count: number): number[] => Array.from({ length: count }, guess);
  return { state, begin, guess, guesses };
}

describe("waits after wrong passwords", () => {
  it("begin after five and double from 1 to 60 seconds, for good, without locking out [D2-login]", () => {
    const { state, guess, guesses } = open();
    expect(guesses(5)).toEqual([0, 0, 0, 0, 0]);
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      expect(guess()).toBeCloseTo(seconds * 1000);
      state.now += seconds * 1000 - 1;
      expect(guess()).toBeCloseTo(1);
      state.now += 1;
      expect(guess()).toBe(0);
    }
  });

  it("end an hour after the last wrong one, and not before [D2-login]", () => {
    const { state, guess, guesses } = open();
    guesses(5);
    state.now += HOUR - 1;
    expect(guess()).toBe(0);
    expect(guess()).toBeCloseTo(2000);
    state.now += HOUR;
    expect(guesses(5)).toEqual([0, 0, 0, 0, 0]);
  });

  it("are forgotten when they end later than any can: the clock was ahead when they were noted", () => {
    const { state, guess, guesses } = open();
    state.now += 48 * HOUR;
    guesses(5);
    expect(guess()).toBeCloseTo(1000);
    state.now -= 48 * HOUR;
    expect(guess()).toBe(0);
  });

  it("run from when the password was found wrong, however long the comparison took [D2-login]", () => {
    const { state, begin, guess, guesses } = open();
    guesses(4);
    begin();
    state.now += 5000;
    state.known = failAttempt(state.known, state.now, FREE);
    state.now += 999;
    expect(guess()).toBeCloseTo(1);
    state.now += 1;
    expect(guess()).toBe(0);
  });
});
