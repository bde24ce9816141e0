/** Where time comes from. Tests inject their own; nothing else in the server reads the system clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. May step backwards when the system's clock is set. */
  now(): number;
  /** Milliseconds since some moment; never steps. For limits and waits, which a clock that is set must not lift. */
  elapsed(): number;
}

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };
